// The bounds themselves: never on the wrong side of the exact information.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "information/lane_model.hpp"
#include "interplay/information_gain.hpp"
#include "made_up_data.hpp"
#include "rows/level_data.hpp"
#include "rows/two_level_data.hpp"
#include "tests.hpp"

// The bounds of φ in lane_scores-inl.hpp, for one class of a cell: two million cells.
void test_rational_bound(std::mt19937& rng) {
  std::uniform_real_distribution<double> uniform(0, 1);
  bool above = true, below = true;
  for (int repeat = 0; repeat < 2'000'000; ++repeat) {
    const double expected = std::exp(20 * uniform(rng) - 10);
    const double ratio = repeat % 3 == 0 ? 1 + 1e-2 * (uniform(rng) - 0.5) : std::exp(12 * uniform(rng) - 8);
    const double d = expected * (ratio - 1), w = 3 * expected;
    const double x = ratio - 1;
    const double exact = expected * ((1 + x) * std::log1p(x) - x), rounding = 1e-13 * (expected + std::abs(d));
    above = above && 1.5 * d * d * (w + d) / (w * (w + 2 * d)) >= exact - rounding;
    below = below && 1.5 * d * d / (w + d) <= exact + rounding;
  }
  check(above, "φ is below its upper bound", "any");
  check(below, "φ is above its lower bound", "any");
}

// The kernels for two classes, with the counts of a job of separate classes: every lane's exact information is to beat.
void check_paired_bounds(const LevelModel& model, const LevelScoreJob& separate, const PairedKernels& kernels,
                         const std::vector<float>& exact, SimdLevel level) {
  const LevelShape& shape = separate.counts.shape;
  const Index stride = shape.lane_stride, size = (shape.lane_levels - 1) * stride;
  AlignedBuffer<ClassCounts> counts, scratch;
  counts.resize(shape.n_patterns * size);
  scratch.resize(shape.n_patterns * shape.lane_levels * 16);
  std::vector<const ClassCounts*> with_lane;
  std::vector<ClassCounts> prefix_cells;
  for (int pattern = 0; pattern < shape.n_patterns; ++pattern) {
    const auto of_class = [&](int q) { return separate.counts.with_lane[q * shape.n_patterns + pattern]; };
    ClassCounts* target = counts.data() + pattern * size;
    kernels.put(of_class(0), of_class(1), {shape.lane_levels - 1, shape.lane_stride, shape.lane_stride}, target);
    bool is_put = true;
    for (Index at = 0; at < size; ++at) is_put = is_put && target[at] == class_counts(of_class(0)[at], of_class(1)[at]);
    check(is_put, "two classes: counts side by side", name_of(level));
    with_lane.push_back(target);
    prefix_cells.push_back(
        class_counts(static_cast<std::int32_t>(separate.counts.prefix_cells[pattern]),
                     static_cast<std::int32_t>(separate.counts.prefix_cells[shape.n_patterns + pattern])));
  }
  PairedScoreJob job{};
  static_cast<LanesToBeat&>(job) = separate;
  job.counts = {shape, with_lane.data(), prefix_cells.data(), scratch.data()};
  std::vector<PairedScoreKernel> scores{kernels.score_rational[0], kernels.score_rational[1]};
  if (polynomial_is_sound(model.two_classes)) {
    for (const auto& polynomial : {kernels.score_polynomial, kernels.score_even}) {
      if (polynomial == kernels.score_even && !model.two_classes.is_even) continue;
      scores.insert(scores.end(), {polynomial[0][0], polynomial[1][0], polynomial[1][3]});
    }
    check(kernels.score_of(model, shape, true) ==
              (model.two_classes.is_even ? kernels.score_even : kernels.score_polynomial)[1][3],
          "three levels have a kernel of their own", name_of(level));
  }
  for (const PairedScoreKernel score : scores) {
    check(score(model, job) == stride, "two classes: bound is above", name_of(level));
  }
  std::vector<float> lower(stride);
  kernels.information(model, job.counts, 1.0f, 0, static_cast<int>(stride), lower.data());
  bool below = true;
  for (Index lane = 0; lane < stride; ++lane) below = below && lower[lane] <= exact[lane];
  check(below, "two classes: lower bound is below", name_of(level));
}

// The kernels for any levels and classes: three levels each, one prefix variable, every lane with a table of its own.
void test_level_bounds(std::mt19937& rng) {
  for (const Index n_classes : {2, 3, 5}) {
    for (const Index n_samples : {60, 3000, 60000, 2000003}) {
      Data data = make_data(rng, n_samples, 2, 0, n_classes, 2, 2);
      data.levels = {3, 3};
      for (auto& column : data.codes) {
        for (std::uint8_t& code : column) code = static_cast<std::uint8_t>(rng() % 3);
      }
      // From even classes to one that has nearly all.
      std::fill(data.sizes.begin(), data.sizes.end(), 0);
      const Index favoured = static_cast<Index>(rng() % 3);
      for (Index i = 0; i < n_samples; ++i) {
        data.decision[i] = i < 3 * n_classes ? i % n_classes : static_cast<Index>(rng() % n_classes);
        if (i >= 3 * n_classes && favoured && rng() % 4) data.decision[i] = 0;
        ++data.sizes[data.decision[i]];
      }
      const bool fits_16_bits = data.sizes[0] <= kMaxFastClassSize;
      const Packed packed = pack(data);
      const std::vector<Index> order{0, 1}, start{0, 1, 2}, lanes{0, 2}, partner_cells{3};
      const std::vector<std::int32_t> tiles{0, 0};
      const SearchProblem problem{
          planes_of(data, packed), {order, start, start, lanes}, {tiles, 2}, partner_cells, data.pseudocount, 0};
      const LevelData levels(problem, lane_kernels_portable(), SampleRowLayout(problem.planes, 2048));
      const std::vector<Index> distinct{3};
      const InformationTables tables(data.sizes, data.pseudocount, distinct, 9);
      const Index stride = LevelData::lane_stride(3);
      for (int repeat = 0; repeat < 40; ++repeat) {
        AlignedBuffer<LaneCount> counts, scratch;
        AlignedBuffer<float> wide_counts, wide_scratch;
        counts.resize(n_classes * 3 * kLanes);
        scratch.resize(9 * n_classes * 16);
        wide_counts.resize(n_classes * 3 * kLanes);
        wide_scratch.resize(9 * n_classes * 16);
        std::vector<const LaneCount*> with_lane;
        std::vector<const float*> wide_with_lane;
        std::vector<Count> prefix_cells;
        std::vector<std::vector<Count>> cells(stride, std::vector<Count>(9 * n_classes));
        for (Index q = 0; q < n_classes; ++q) {
          // Samples of the class in each level of the prefix, often none.
          Index left = data.sizes[q];
          std::array<Index, 3> of_level{};
          for (const int level : {1, 2}) {
            of_level[level] = rng() % 4 == 0 ? 0 : rng() % (left + 1);
            left -= of_level[level];
          }
          of_level[0] = left;
          for (const Index n : of_level) prefix_cells.push_back(static_cast<Count>(n));
          LaneCount* of_class = counts.data() + q * 3 * kLanes;
          float* wide_of_class = wide_counts.data() + q * 3 * kLanes;
          for (int pattern = 0; pattern < 3; ++pattern) {
            with_lane.push_back(of_class + pattern * kLanes);
            wide_with_lane.push_back(wide_of_class + pattern * kLanes);
          }
          const auto set_count = [&](Index at, Index count) {
            of_class[at] = static_cast<LaneCount>(count);
            wide_of_class[at] = static_cast<float>(count);
          };
          for (Index lane = 0; lane < stride; ++lane) {
            Index open[2] = {0, 0};
            for (const int level : {0, 1, 2}) {
              const Index first = rng() % 4 == 0 ? 0 : rng() % (of_level[level] + 1);
              const Index second = rng() % 4 == 0 ? 0 : rng() % (of_level[level] - first + 1);
              const Index of_lane[3] = {of_level[level] - first - second, first, second};
              for (int l = 0; l < 3; ++l) cells[lane][(level * 3 + l) * n_classes + q] = static_cast<Count>(of_lane[l]);
              for (int l = 0; l < 2; ++l) {
                open[l] += of_lane[l + 1];
                if (level > 0) set_count(level * kLanes + l * stride + lane, of_lane[l + 1]);
              }
            }
            for (int l = 0; l < 2; ++l) set_count(l * stride + lane, open[l]);
          }
        }
        LevelScoreJob job{};
        job.counts = {{1, {3}, 3, 3, static_cast<int>(stride)}, with_lane.data(), prefix_cells.data(), scratch.data()};
        std::vector<float> exact(stride), none(stride, 0.0f);
        std::vector<Survivor> survivors(stride);
        for (Index lane = 0; lane < stride; ++lane) {
          const double bits = tables.to_bits(information(tables.of_tuple(), cells[lane].data(), 9, n_classes));
          exact[lane] = static_cast<float>(bits - InformationOffset(data.sizes, data.pseudocount)(9));
        }
        job.without_member[0] = none.data();
        job.best_of_member[0] = std::numeric_limits<float>::infinity();
        job.best_of_part[0] = exact.data();
        job.without_part[0] = none.data();
        job.last_lane = static_cast<int>(stride);
        job.survivors = survivors.data();
        WideScoreJob wide_job{};
        static_cast<LanesToBeat&>(wide_job) = job;
        wide_job.counts = {job.counts.shape, wide_with_lane.data(), prefix_cells.data(), wide_scratch.data()};
        for (const SimdLevel level : available_simd_levels()) {
          const WideKernels& wide = lane_kernels(level).wide;
          std::vector<float> wide_lower(stride);
          check(wide.score(levels.model(), wide_job) == stride, "wide counts: bound is above", name_of(level));
          check(wide.score_of(static_cast<int>(n_classes))(levels.model(), wide_job) == stride,
                "wide counts: bound is above", name_of(level));
          wide.information(levels.model(), wide_job.counts, 1.0f, 0, static_cast<int>(stride), wide_lower.data());
          bool wide_below = true;
          for (Index lane = 0; lane < stride; ++lane) wide_below = wide_below && wide_lower[lane] <= exact[lane];
          check(wide_below, "wide counts: lower bound is below", name_of(level));
          if (!fits_16_bits) continue;
          const LevelKernels& kernels = lane_kernels(level).levels;
          std::vector<LevelScoreKernel> scores{kernels.score};
          if (n_classes == 3) scores.push_back(kernels.score_three_classes);
          for (const LevelScoreKernel score : scores) {
            check(score(levels.model(), job) == stride, "any levels: bound is above", name_of(level));
          }
          if (n_classes == 2) check_paired_bounds(levels.model(), job, lane_kernels(level).paired, exact, level);
          std::vector<float> lower(stride);
          kernels.information(levels.model(), job.counts, 1.0f, 0, static_cast<int>(stride), lower.data());
          bool below = true;
          for (Index lane = 0; lane < stride; ++lane) below = below && lower[lane] <= exact[lane];
          check(below, "any levels: lower bound is below", name_of(level));
        }
      }
    }
  }
}

// The bound is above the information and the lower bound below it, for any counts.
void test_bounds(std::mt19937& rng) {
  for (const Index n_samples : {40, 2000, 36000}) {  // the larger class then has nearly as many as it may
    for (const double share : {0.5, 0.47, 0.575, 0.35, 0.1}) {
      Data data = make_data(rng, n_samples, 2, 0, 2, 2, 2);
      data.pseudocount = std::array{0.25, 1e-3, 5000.0}[rng() % 3];
      data.sizes = {static_cast<Index>(share * static_cast<double>(n_samples)), 0};
      data.sizes[1] = n_samples - data.sizes[0];
      for (Index i = 0; i < n_samples; ++i) data.decision[i] = i < data.sizes[0] ? 0 : 1;
      const Packed packed = pack(data);
      const std::vector<Index> order{0, 1}, start{0, 1, 2}, lanes{0, 2}, cells{2};
      const std::vector<std::int32_t> tiles{0, 0};
      const SearchProblem problem{
          planes_of(data, packed), {order, start, start, lanes}, {tiles, 2}, cells, data.pseudocount, 0};
      const TwoLevelData two_level(problem, lane_kernels_portable());
      const std::vector<Index> levels{2};
      const InformationTables tables(data.sizes, data.pseudocount, levels, 4);
      for (int repeat = 0; repeat < 50; ++repeat) {
        // One prefix variable, and lanes of which each has a table of its own.
        LaneCount ones[2][kLanes], both[2][kLanes];
        LaneScoreJob job{};
        std::int32_t prefix[2], outside_prefix[2];
        for (int q = 0; q < 2; ++q) {
          const Index n = data.sizes[q];
          prefix[q] = static_cast<std::int32_t>(rng() % (n + 1));
          for (Index l = 0; l < kLanes; ++l) {
            // Often at the extremes, where cells are empty.
            const Index inside = rng() % 3 == 0 ? prefix[q] * static_cast<Index>(rng() % 2) : rng() % (prefix[q] + 1);
            const Index outside = rng() % 3 == 0 ? 0 : rng() % (n - prefix[q] + 1);
            both[q][l] = static_cast<LaneCount>(inside);
            ones[q][l] = static_cast<LaneCount>(inside + outside);
          }
          outside_prefix[q] = static_cast<std::int32_t>(n) - prefix[q];
        }
        alignas(64) ClassCounts ones_of_lanes[kLanes], both_of_lanes[kLanes];
        for (Index l = 0; l < kLanes; ++l) {
          ones_of_lanes[l] = class_counts(ones[0][l], ones[1][l]);
          both_of_lanes[l] = class_counts(both[0][l], both[1][l]);
        }
        job.counts.with_lane[0][0] = ones_of_lanes;
        job.counts.with_lane[0][1] = both_of_lanes;
        job.counts.prefix_cells[0] = class_counts(outside_prefix[0], outside_prefix[1]);
        job.counts.prefix_cells[1] = class_counts(prefix[0], prefix[1]);
        std::vector<float> exact_down(kLanes), sub_information(kLanes), none(kLanes, 0.0f);
        for (Index l = 0; l < kLanes; ++l) {
          Count counts[8];
          for (int q = 0; q < 2; ++q) {
            counts[0 + q] = static_cast<Count>(outside_prefix[q] - (ones[q][l] - both[q][l]));
            counts[2 + q] = static_cast<Count>(prefix[q] - both[q][l]);
            counts[4 + q] = static_cast<Count>(ones[q][l] - both[q][l]);
            counts[6 + q] = static_cast<Count>(both[q][l]);
          }
          const double bits = tables.to_bits(information(tables.of_tuple(), counts, 4, 2));
          exact_down[l] = static_cast<float>(bits - InformationOffset(data.sizes, data.pseudocount)(4));
          // The same counts as a sub-tuple's, whose cells carry twice the pseudocounts.
          double sum = 0;
          for (int cell = 0; cell < 4; ++cell) {
            double n[2];
            for (int q = 0; q < 2; ++q) {
              const double beta = data.pseudocount * static_cast<double>(data.sizes[q]) /
                                  static_cast<double>(std::min(data.sizes[0], data.sizes[1]));
              n[q] = counts[2 * cell + q] + 2 * beta;
            }
            for (int q = 0; q < 2; ++q) {
              const double share_of_all = static_cast<double>(data.sizes[q]) / static_cast<double>(n_samples);
              sum += n[q] * std::log2(n[q] / (n[0] + n[1]) / share_of_all);
            }
          }
          sub_information[l] = static_cast<float>(sum);
        }
        Survivor survivors[kLanes];
        job.without_member[0] = none.data();
        job.best_of_member[0] = std::numeric_limits<float>::infinity();
        job.best_of_part[0] = exact_down.data();
        job.without_part[0] = none.data();
        job.last_lane = static_cast<int>(kLanes);
        job.survivors = survivors;
        for (const SimdLevel level : available_simd_levels()) {
          const LaneKernels& kernels = lane_kernels(level);
          check(kernels.score_rational[1][1](two_level.model(), job) == kLanes, "rational bound is above",
                name_of(level));
          std::vector<InformationKernel> informations{kernels.information_rational[1][1]};
          if (polynomial_is_sound(two_level.model())) {  // nothing else uses polynomials
            check(kernels.score_polynomial[1][1](two_level.model(), job) == kLanes, "polynomial is above",
                  name_of(level));
            informations.push_back(kernels.information_polynomial[1][1]);
            check(two_level.model().is_even == (std::abs(share - 0.5) < 0.08), "nearly even classes are known",
                  name_of(level));
            if (two_level.model().is_even) {
              check(kernels.score_even[1][1](two_level.model(), job) == kLanes, "even polynomial is above",
                    name_of(level));
              informations.push_back(kernels.information_even[1][1]);
            }
          }
          float lower[kLanes];
          for (const InformationKernel& information : informations) {
            information(two_level.model(), job.counts, 0, static_cast<int>(kLanes), lower);
            bool below = true;
            for (Index l = 0; l < kLanes; ++l) below = below && lower[l] <= sub_information[l];
            check(below, "lower bound is below", name_of(level));
          }
        }
      }
    }
  }
}
