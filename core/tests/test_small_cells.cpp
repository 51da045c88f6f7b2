// Small cells: the tables of their information, the bounds that use them, the counts of both classes at once.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "information/lane_model.hpp"
#include "information/small_cells.hpp"
#include "made_up_data.hpp"
#include "memory/aligned_buffer.hpp"
#include "search/level_forms.hpp"
#include "tests.hpp"

namespace {

// Σ n_q·log2(n_q / (n·s_q)), pseudocounts included.
double information_of_cell(const std::array<Index, 2>& counts, std::span<const Index> sizes, double pseudocount) {
  const double smaller = static_cast<double>(std::min(sizes[0], sizes[1]));
  double n[2], total = 0, sum = 0;
  for (int q = 0; q < 2; ++q) {
    n[q] = static_cast<double>(counts[q]) + pseudocount * static_cast<double>(sizes[q]) / smaller;
    total += n[q];
  }
  for (int q = 0; q < 2; ++q) {
    sum += n[q] * std::log2(n[q] / total / (static_cast<double>(sizes[q]) / static_cast<double>(sizes[0] + sizes[1])));
  }
  return sum;
}

// Counts of 8-level tuples of two members and a lane, as a search has them.
struct SmallTuples {
  static constexpr int kLevels = 8, kPatterns = kLevels * kLevels, kUpper = kLevels - 1, kStride = 48;
  static constexpr int kSize = kUpper * kStride;
  AlignedBuffer<ClassCounts> patterns;
  AlignedBuffer<BytePair> whole;
  std::vector<const ClassCounts*> with_lane;
  std::vector<ClassCounts> prefix_cells;
  std::vector<std::vector<Count>> cells;  // [lane]: of each cell, both classes

  // in_cell(prefix cell, class): its samples; they are shared out to the levels of each lane at random.
  template <class InCell>
  SmallTuples(std::mt19937& rng, const InCell& in_cell) : cells(kStride, std::vector<Count>(kPatterns * kLevels * 2)) {
    patterns.resize(kPatterns * kSize);
    whole.resize(kUpper * kUpper * kSize);
    std::fill_n(patterns.data(), kPatterns * kSize, ClassCounts{0});
    for (int cell = 0; cell < kPatterns; ++cell) {
      const std::array<int, 2> n{in_cell(cell, 0), in_cell(cell, 1)};
      prefix_cells.push_back(class_counts(n[0], n[1]));
      const int first = cell % kLevels, second = cell / kLevels;
      for (int lane = 0; lane < kStride; ++lane) {
        std::array<std::array<int, 2>, kLevels> of_level{};
        for (int q = 0; q < 2; ++q) {
          for (int i = 0; i < n[q]; ++i) ++of_level[rng() % kLevels][q];
        }
        for (int level = 0; level < kLevels; ++level) {
          for (int q = 0; q < 2; ++q) {
            cells[lane][(cell * kLevels + level) * 2 + q] = static_cast<Count>(of_level[level][q]);
          }
          if (level == 0) continue;
          const int at = (level - 1) * kStride + lane;
          const ClassCounts counts = class_counts(of_level[level][0], of_level[level][1]);
          // Patterns that leave members open have the sums.
          patterns.data()[at] += counts;
          if (first) patterns.data()[first * kSize + at] += counts;
          if (second) patterns.data()[second * kLevels * kSize + at] += counts;
          if (!first || !second) continue;
          whole.data()[((second - 1) * kUpper + first - 1) * kSize + at] =
              static_cast<BytePair>(of_level[level][0] | of_level[level][1] << 8);
        }
      }
    }
    for (int pattern = 0; pattern < kPatterns; ++pattern) with_lane.push_back(patterns.data() + pattern * kSize);
  }

  PairedCounts counts() const {
    const LevelShape shape{2, {kLevels, kLevels}, kPatterns, kLevels, kStride};
    return {shape, with_lane.data(), prefix_cells.data(), nullptr, whole.data()};
  }
};

}  // namespace

// Every cell of fewer than 16 samples has at most the information in the tables, and not much less.
void test_small_cell_tables(std::mt19937& rng) {
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const std::array<Index, 2> sizes{1 + static_cast<Index>(rng() % 30000), 1 + static_cast<Index>(rng() % 30000)};
    const double pseudocount = std::array{0.25, 1e-6, 0.01, 3.0, 5000.0, 1e8}[rng() % 6];
    const SmallCellTables tables = make_small_cell_tables(sizes, pseudocount);
    bool above = tables.of_total[0] == 0, close = true;
    for (Index n_0 = 0; n_0 < 16; ++n_0) {
      for (Index n_1 = 0; n_0 + n_1 < 16; ++n_1) {
        const int entries = tables.of_class[0][n_0] + tables.of_class[1][n_1] + tables.of_total[n_0 + n_1];
        const double bound = static_cast<double>(tables.unit) * entries +
                             tables.of_sample[0] * static_cast<double>(n_0) +
                             tables.of_sample[1] * static_cast<double>(n_1) + tables.of_cell;
        const double exact = information_of_cell({n_0, n_1}, sizes, pseudocount);
        const double beta = pseudocount * static_cast<double>(std::max(sizes[0], sizes[1]) + 1);
        const double rounding = 1e-12 + 1e-13 * beta;
        above = above && bound >= exact - rounding;
        close = close && bound <= exact + 3.1 * static_cast<double>(tables.unit) + rounding;
      }
    }
    check(above, "small cells: tables are above", "any");
    check(close, "small cells: by three steps at most", "any");
    check(tables.unit < 0.04f || pseudocount > 1e6, "small cells: steps are small", "any");
  }
}

// The bound is above the information, and where all cells are small close to it.
void test_small_cell_bounds(std::mt19937& rng) {
  for (int repeat = 0; repeat < 24; ++repeat) {
    const int kind = repeat % 3;  // small cells alone; some large ones; up to 255 samples in a cell of the prefix
    const SmallTuples tuples(rng, [&](int cell, int q) {
      if (kind == 1 && cell % 5 == 0) return static_cast<int>(rng() % 90);
      if (kind == 2) return rng() % 4 == 0 ? 255 : static_cast<int>(rng() % 20);
      return q == 0 ? static_cast<int>(rng() % 14) : static_cast<int>(rng() % 30);
    });
    Data data = make_data(rng, 10, 2, 0, 2, 2, 2);
    data.sizes = {0, 0};
    for (const ClassCounts cell : tuples.prefix_cells) {
      for (int q = 0; q < 2; ++q) data.sizes[q] += count_of_class(cell, q);
    }
    if (repeat % 2) data.sizes[0] = data.sizes[1] = std::max(data.sizes[0], data.sizes[1]);  // the same tables
    data.pseudocount = std::array{0.25, 1e-3, 2.0}[rng() % 3];
    LevelModel model{};
    model.n_classes = 2;
    model.two_classes = make_lane_model(data.sizes, data.pseudocount, 512);
    model.slack = model.two_classes.slack;
    model.small_cells = make_small_cell_tables(data.sizes, data.pseudocount);
    check(model.small_cells.same_classes == (data.sizes[0] == data.sizes[1]), "small cells: equal classes", "any");

    PairedScoreJob job{};
    job.counts = tuples.counts();
    const int stride = SmallTuples::kStride;
    std::vector<float> exact(stride), none(stride, 0.0f);
    for (int lane = 0; lane < stride; ++lane) {
      // Not by the tables of exact scores: of equal classes, the counts are fewer than the sizes say.
      double bits = 0;
      for (int cell = 0; cell < 512; ++cell) {
        const Count* of_cell = tuples.cells[lane].data() + 2 * cell;
        bits += information_of_cell({of_cell[0], of_cell[1]}, data.sizes, data.pseudocount);
      }
      exact[lane] = static_cast<float>(bits);
    }
    std::vector<Survivor> survivors(stride);
    for (int member = 0; member < 2; ++member) {
      job.without_member[member] = none.data();
      job.best_of_member[member] = std::numeric_limits<float>::infinity();
    }
    job.best_of_part[0] = exact.data();
    job.without_part[0] = none.data();
    job.survivors = survivors.data();
    const float most_above = 512 * 3.1f * model.small_cells.unit + 3 * model.slack;
    for (const SimdLevel level : available_simd_levels()) {
      const PairedKernels& kernels = lane_kernels(level).paired;
      std::vector<PairedScoreKernel> scores{kernels.score_small_rational[0]};
      if (polynomial_is_sound(model.two_classes)) {
        scores.push_back(kernels.score_small_polynomial[0]);
        if (model.two_classes.is_even) scores.push_back(kernels.score_small_even[0]);
        check(std::find(scores.begin(), scores.end(), kernels.score_small_of(model, true)) != scores.end() ||
                  model.small_cells.same_classes,
              "small cells: the kernel for these classes", name_of(level));
      }
      if (model.small_cells.same_classes) {
        scores.insert(scores.end(), {kernels.score_small_rational[1], kernels.score_small_polynomial[1]});
        if (model.two_classes.is_even) scores.push_back(kernels.score_small_even[1]);
      }
      for (const PairedScoreKernel score : scores) {
        for (const int last : {stride, stride - 7, stride - 16}) {
          job.first_lane = 3;
          job.last_lane = last;
          check(score(model, job) == last - 3, "small cells: bound is above", name_of(level));
        }
        bool close = kind != 0;
        if (kind == 0) {
          close = true;
          for (int i = 0; i < job.last_lane - 3; ++i) {
            close = close && survivors[i].bound <= exact[survivors[i].lane] + most_above;
          }
        }
        check(close, "small cells: bound is close", name_of(level));
      }
    }
  }
}

// Which searches count whole prefixes in bytes: 3D, with up to six samples per cell.
void test_what_is_counted_in_bytes() {
  const auto takes = [](Index n_samples, int n_prefix, int n_levels) {
    const std::array<Index, 2> sizes{n_samples / 2, n_samples - n_samples / 2};
    LevelShape shape{n_prefix, {}, 1, n_levels, 16};
    for (int m = 0; m < n_prefix; ++m) {
      shape.levels[m] = n_levels;
      shape.n_patterns *= n_levels;
    }
    return PairedForm::takes_bytes(sizes, shape);
  };
  check(takes(2000, 2, 8) && takes(2000, 2, 7) && takes(384, 2, 4), "small cells are counted in bytes", "any");
  check(!takes(2000, 2, 6) && !takes(385, 2, 4), "larger cells are not", "any");
  check(!takes(40, 1, 8) && !takes(2000, 3, 8), "nor are other dimensions", "any");
}

// Both classes counted at once, in bytes and in 32 bits, as one after the other.
void test_counts_of_both_classes(std::mt19937& rng) {
  constexpr Index n_samples = 300;
  AlignedBuffer<Word> rows;
  rows.resize((n_samples + 1) * kWordsPerRow);
  for (Index i = 0; i < n_samples * kWordsPerRow; ++i) {
    rows.data()[i] = Word{rng()} << 32 | rng();
    if (i % 3) rows.data()[i] &= Word{rng()} << 32 | rng();
  }
  std::fill_n(rows.data() + n_samples * kWordsPerRow, kWordsPerRow, Word{0});
  for (const Index longest : {10, 16, 31, 60, 120, 240, 255, 300}) {
    std::array<AlignedBuffer<LaneCount>, 2> lists;
    std::array<Index, 2> n{};
    for (int q = 0; q < 2; ++q) {
      n[q] = longest == 255 ? 255 : static_cast<Index>(rng() % (longest + 1));
      if (longest == 300) n[q] = 300 - q;
      lists[q].resize(padded(n[q]) + kListMultiple);
      for (Index i = 0; i < padded(n[q]); ++i) {
        // Often the same row, so that some counts are as large as they can be.
        lists[q].data()[i] = static_cast<LaneCount>(i >= n[q] ? n_samples : rng() % 2 ? 0 : rng() % n_samples);
      }
    }
    for (const SimdLevel level : available_simd_levels()) {
      const LaneKernels& kernels = lane_kernels(level);
      for (const auto& [n_runs, n_lanes] : {std::array{7, 32}, std::array{3, 80}, std::array{16, 16}}) {
        const LaneRuns runs{n_runs, n_lanes, n_lanes + 16};
        AlignedBuffer<LaneCount> counted;
        counted.resize(2 * kLanes);
        std::array<ListedRows, 2> listed{};
        for (int q = 0; q < 2; ++q) {
          listed[q] = {rows.data(), lists[q].data(), padded(n[q])};
          kernels.count_lanes(rows.data(), lists[q].data(), padded(n[q]), counted.data() + q * kLanes);
        }
        AlignedBuffer<BytePair> bytes;
        AlignedBuffer<ClassCounts> pairs;
        bytes.resize(n_runs * runs.stride);
        pairs.resize(n_runs * runs.stride);
        kernels.paired.count_bytes(listed[0], listed[1], LanePieces(runs), bytes.data());
        kernels.paired.count(listed[0], listed[1], LanePieces(runs), pairs.data());
        bool same_bytes = true, same = true;
        for (int run = 0; run < n_runs; ++run) {
          for (int lane = 0; lane < n_lanes; ++lane) {
            const LaneCount* expected = counted.data() + run * n_lanes + lane;
            const Index at = run * runs.stride + lane;
            same_bytes = same_bytes && bytes.data()[at] == ((expected[0] & 0xff) | (expected[kLanes] & 0xff) << 8);
            same = same && pairs.data()[at] == class_counts(expected[0], expected[kLanes]);
          }
        }
        check(same_bytes, "both classes at once, in bytes", name_of(level));
        if (longest < 256) check(same, "both classes at once", name_of(level));
      }
    }
  }
}
