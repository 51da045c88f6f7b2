// The core against a count by hand, for every instruction set that runs here. Built with AddressSanitizer and UBSan by
// `make sanitize`; exits 1 if anything differs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "interplay/bit_planes.hpp"
#include "interplay/lane_model.hpp"
#include "interplay/tuple_search.hpp"
#include "interplay/two_level_data.hpp"

namespace {

using namespace interplay;

int failures = 0;
int checks = 0;

void check(bool holds, const char* what, const char* where) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("FAILED %s: %s\n", where, what);
}

struct Data {
  Index n_samples, n_vars, n_contrast, n_classes, dimensions;
  std::vector<Index> levels;  // per row
  std::vector<std::vector<std::uint8_t>> codes;
  std::vector<Index> decision;
  std::vector<Index> sizes;
  double pseudocount = 0.25;

  Index n_rows() const { return n_vars + n_contrast; }
};

Data make_data(std::mt19937& rng, Index n_samples, Index n_vars, Index n_contrast, Index n_classes, Index dimensions,
               Index max_levels) {
  Data data{n_samples, n_vars, n_contrast, n_classes, dimensions, {}, {}, {}, std::vector<Index>(n_classes, 0)};
  for (Index i = 0; i < n_samples; ++i) {
    const Index q = i < n_classes ? i : static_cast<Index>(rng() % n_classes);  // no class is empty
    data.decision.push_back(q);
    ++data.sizes[q];
  }
  for (Index row = 0; row < data.n_rows(); ++row) {
    const Index c = 2 + static_cast<Index>(rng() % (max_levels - 1));
    data.levels.push_back(c);
    std::vector<std::uint8_t> column;
    for (Index i = 0; i < n_samples; ++i) column.push_back(static_cast<std::uint8_t>(rng() % c));
    data.codes.push_back(column);
  }
  return data;
}

// U of a table given as counts per (cell, class), straight from the formula.
double entropy(const std::map<std::vector<Index>, std::vector<double>>& table) {
  double sum = 0;
  for (const auto& [cell, counts] : table) {
    double total = 0;
    for (const double n : counts) total += n;
    for (const double n : counts) sum -= n * std::log2(n / total);
  }
  return sum;
}

double gain_by_hand(const Data& data, const std::vector<Index>& tuple, Index member) {
  const Index smallest = *std::min_element(data.sizes.begin(), data.sizes.end());
  std::map<std::vector<Index>, std::vector<double>> full, summed;
  std::vector<Index> cell(tuple.size(), 0);
  while (true) {  // every cell of the table, the empty ones included
    std::vector<double> counts;
    for (Index q = 0; q < data.n_classes; ++q) {
      counts.push_back(data.pseudocount * static_cast<double>(data.sizes[q]) / static_cast<double>(smallest));
    }
    for (Index i = 0; i < data.n_samples; ++i) {
      bool inside = true;
      for (std::size_t m = 0; m < tuple.size(); ++m) inside = inside && data.codes[tuple[m]][i] == cell[m];
      if (inside) counts[data.decision[i]] += 1;
    }
    full[cell] = counts;
    std::vector<Index> rest = cell;
    rest.erase(rest.begin() + member);
    auto& target = summed.try_emplace(rest, std::vector<double>(data.n_classes, 0.0)).first->second;
    for (Index q = 0; q < data.n_classes; ++q) target[q] += counts[q];
    std::size_t place = 0;
    while (place < tuple.size() && ++cell[place] == data.levels[tuple[place]]) cell[place++] = 0;
    if (place == tuple.size()) break;
  }
  return entropy(summed) - entropy(full);
}

struct Found {
  std::vector<double> gain;
  std::vector<Index> discretization, tuples;
  bool operator==(const Found&) const = default;
};

struct Packed {
  std::vector<Word> words;
  std::vector<Index> plane_start{0}, class_word_start{0};
  Index n_words = 0;
};

Packed pack(const Data& data) {
  Packed packed;
  for (const Index c : data.levels) packed.plane_start.push_back(packed.plane_start.back() + c - 1);
  for (const Index size : data.sizes) {
    packed.class_word_start.push_back(packed.class_word_start.back() + (size + 511) / 512 * kWordsPerBlock);
  }
  packed.n_words = packed.class_word_start.back();
  packed.words.assign(packed.plane_start.back() * packed.n_words, 0);
  std::vector<Index> sample_order;
  for (Index q = 0; q < data.n_classes; ++q) {
    for (Index i = 0; i < data.n_samples; ++i) {
      if (data.decision[i] == q) sample_order.push_back(i);
    }
  }
  std::vector<std::uint8_t> codes;
  for (const auto& column : data.codes) codes.insert(codes.end(), column.begin(), column.end());
  pack_bit_planes(codes, sample_order, data.sizes, packed.class_word_start, packed.plane_start, 0, data.n_rows(),
                  packed.words);
  return packed;
}

// One block per variable: every tile is one tuple, so the test needs no tiling code of its own.
Found search(const Data& data, const Packed& packed, SimdLevel level, int n_threads, bool direct_only) {
  std::vector<Index> order, block_start{0};
  for (Index row = 0; row < data.n_rows(); ++row) {
    order.push_back(row);
    block_start.push_back(row + 1);
  }
  std::vector<std::int32_t> tiles;
  std::vector<Index> cells;
  std::vector<std::int32_t> tuple;
  const auto add_tuples = [&](auto&& self, Index from) -> void {
    const Index size = static_cast<Index>(tuple.size());
    if (size == data.dimensions) {
      tiles.insert(tiles.end(), tuple.begin(), tuple.end());
      Index product = 1;
      for (const std::int32_t v : tuple) product *= data.levels[v];
      for (const std::int32_t v : tuple) cells.push_back(product / data.levels[v]);
      return;
    }
    // Contrast variables come last, one to a tuple.
    const Index end = size + 1 == data.dimensions ? data.n_rows() : data.n_vars;
    for (Index v = from; v < end; ++v) {
      tuple.push_back(static_cast<std::int32_t>(v));
      self(self, v + 1);
      tuple.pop_back();
    }
  };
  add_tuples(add_tuples, 0);
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());

  const std::size_t n_slots = data.n_rows() * cells.size();
  Found found{std::vector<double>(n_slots, -std::numeric_limits<double>::infinity()), std::vector<Index>(n_slots, -1),
              std::vector<Index>(n_slots * data.dimensions, -1)};
  MaxGains best{found.gain, found.discretization, found.tuples, data.dimensions};
  std::vector<std::uint8_t> done(tiles.size() / data.dimensions, 0);
  const SearchProblem problem{
      {packed.words, packed.n_words, packed.plane_start, data.levels, packed.class_word_start, data.sizes, data.n_vars},
      {order, block_start, block_start, block_start},
      {tiles, data.dimensions},
      cells,
      data.pseudocount,
      0};
  const bool all =
      search_max_gains(problem, {n_threads, level, [](std::uint64_t) { return true; }, direct_only}, best, done);
  check(all, "all tiles done", name_of(level));

  // Every maximum is the largest gain by hand among the tuples of its group.
  if (level == SimdLevel::serial && n_threads == 1 && direct_only) {
    std::vector<double> expected(n_slots, -std::numeric_limits<double>::infinity());
    for (std::size_t t = 0; t < done.size(); ++t) {
      const std::vector<Index> members(tiles.begin() + t * data.dimensions, tiles.begin() + (t + 1) * data.dimensions);
      Index product = 1;
      for (const Index v : members) product *= data.levels[v];
      for (Index m = 0; m < data.dimensions; ++m) {
        const Index v = members[m];
        if (members.back() >= data.n_vars && v < data.n_vars) continue;
        const auto group = std::lower_bound(cells.begin(), cells.end(), product / data.levels[v]) - cells.begin();
        double& slot = expected[v * cells.size() + group];
        slot = std::max(slot, gain_by_hand(data, members, m));
      }
    }
    for (std::size_t slot = 0; slot < n_slots; ++slot) {
      const bool same = expected[slot] == found.gain[slot] || std::abs(expected[slot] - found.gain[slot]) < 1e-9;
      check(same, "maximum gain equals the count by hand", name_of(level));
    }
  }
  return found;
}

void test_against_count_by_hand(std::mt19937& rng) {
  for (const Index n_samples : {9, 63, 64, 65, 511, 512, 513, 1024}) {
    for (Index dimensions = 1; dimensions <= 5; ++dimensions) {
      const Index n_classes = 2 + static_cast<Index>(rng() % 3);
      const Index n_vars = dimensions <= 3 ? 7 : 6;
      const Index max_levels = dimensions < 4 ? 4 : 2;
      const Data data = make_data(rng, n_samples, n_vars, n_samples % 2 ? 3 : 0, n_classes, dimensions, max_levels);
      const Packed packed = pack(data);
      const Found expected = search(data, packed, SimdLevel::serial, 1, true);
      for (const SimdLevel level : available_simd_levels()) {
        for (const int n_threads : {1, 3}) {
          for (const bool direct_only : {false, true}) {
            check(search(data, packed, level, n_threads, direct_only) == expected, "same bits as serial",
                  name_of(level));
          }
        }
      }
    }
  }
}

// Real blocks and lanes: two levels, two classes of any shares, one column a copy of another.
void test_two_level_tiles(std::mt19937& rng) {
  for (const double share : {0.5, 0.4, 0.25, 0.1}) {
    for (Index dimensions = 2; dimensions <= 5; ++dimensions) {
      const Index n_vars = std::array{0, 0, 300, 70, 24, 15}[dimensions];
      const Index n_contrast = 9;
      Data data = make_data(rng, 701, n_vars, n_contrast, 2, dimensions, 2);
      data.pseudocount = std::array{0.25, 0.25, 500.0}[rng() % 3];
      data.sizes = {0, 0};
      for (Index i = 0; i < data.n_samples; ++i) {
        data.decision[i] = static_cast<double>(rng() % 1000) < 1000 * share ? 0 : 1;
        if (rng() % 3) data.decision[i] = data.decision[i] & (data.codes[1][i] ^ data.codes[2][i]);
        ++data.sizes[data.decision[i]];
      }
      data.codes[3] = data.codes[1];
      const Packed packed = pack(data);
      std::vector<Index> order, block_start{0}, lane_start{0, n_vars - 4, n_vars, n_vars + n_contrast};
      for (Index row = 0; row < data.n_rows(); ++row) order.push_back(row);
      for (Index end = 5; end < n_vars - 4; end += 5) block_start.push_back(end);
      block_start.insert(block_start.end(), lane_start.begin() + 1, lane_start.end());
      // Middle blocks of two or three small ones.
      std::vector<Index> middle_start;
      for (std::size_t b = 0; b < block_start.size(); ++b) {
        const bool ends_lane_block = std::count(lane_start.begin(), lane_start.end(), block_start[b]) > 0;
        if (ends_lane_block || b % 3 == 0) middle_start.push_back(block_start[b]);
      }
      const Index n_real_blocks = static_cast<Index>(block_start.size()) - 2;
      const Index n_real_middles = static_cast<Index>(middle_start.size()) - 2;
      std::vector<std::int32_t> tiles, tile;
      const auto add_tiles = [&](auto&& self, Index from) -> void {
        if (static_cast<Index>(tile.size()) + 2 == dimensions) {
          for (std::int32_t middle = 0; middle < n_real_middles; ++middle) {
            for (std::int32_t lane = 0; lane < 3; ++lane) {
              tiles.insert(tiles.end(), tile.begin(), tile.end());
              tiles.push_back(middle);
              tiles.push_back(lane);
            }
          }
          return;
        }
        for (Index b = from; b < n_real_blocks; ++b) {
          tile.push_back(static_cast<std::int32_t>(b));
          self(self, b);
          tile.pop_back();
        }
      };
      add_tiles(add_tiles, 0);
      const std::vector<Index> cells{Index{1} << (dimensions - 1)};
      const SearchProblem problem{{packed.words, packed.n_words, packed.plane_start, data.levels,
                                   packed.class_word_start, data.sizes, data.n_vars},
                                  {order, block_start, middle_start, lane_start},
                                  {tiles, dimensions},
                                  cells,
                                  data.pseudocount,
                                  0};
      Found expected;
      for (const bool direct_only : {true, false}) {
        for (const SimdLevel level : available_simd_levels()) {
          Found found{std::vector<double>(data.n_rows(), -std::numeric_limits<double>::infinity()),
                      std::vector<Index>(data.n_rows(), -1), std::vector<Index>(data.n_rows() * dimensions, -1)};
          MaxGains best{found.gain, found.discretization, found.tuples, dimensions};
          std::vector<std::uint8_t> done(tiles.size() / dimensions, 0);
          search_max_gains(problem, {2, level, [](std::uint64_t) { return true; }, direct_only}, best, done);
          if (expected.gain.empty()) expected = found;
          check(found == expected, "the bound changes nothing", name_of(level));
        }
      }
    }
  }
}

// The bound is above the information and the lower bound below it, for any counts.
void test_bounds(std::mt19937& rng) {
  for (const Index n_samples : {40, 2000, 50000}) {
    for (const double share : {0.5, 0.35, 0.1}) {
      Data data = make_data(rng, n_samples, 2, 0, 2, 2, 2);
      data.pseudocount = std::array{0.25, 1e-3, 5000.0}[rng() % 3];
      data.sizes = {static_cast<Index>(share * static_cast<double>(n_samples)), 0};
      data.sizes[1] = n_samples - data.sizes[0];
      for (Index i = 0; i < n_samples; ++i) data.decision[i] = i < data.sizes[0] ? 0 : 1;
      const Packed packed = pack(data);
      const std::vector<Index> order{0, 1}, start{0, 1, 2}, lanes{0, 2}, cells{2};
      const std::vector<std::int32_t> tiles{0, 0};
      const SearchProblem problem{{packed.words, packed.n_words, packed.plane_start, data.levels,
                                   packed.class_word_start, data.sizes, data.n_vars},
                                  {order, start, start, lanes},
                                  {tiles, 2},
                                  cells,
                                  data.pseudocount,
                                  0};
      const TwoLevelData two_level(problem);
      const std::vector<Index> levels{2};
      const InformationTables tables(data.sizes, data.pseudocount, levels, 4);
      for (int repeat = 0; repeat < 50; ++repeat) {
        // One prefix variable, and lanes of which each has a table of its own.
        alignas(64) LaneCount ones[2][kLanes], both[2][kLanes];
        LaneScoreJob job{};
        std::int32_t prefix[2];
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
          job.counts.with_lane[q][0][0] = ones[q];
          job.counts.with_lane[q][0][1] = both[q];
          job.counts.prefix_cells[q][0] = static_cast<std::int32_t>(n) - prefix[q];
          job.counts.prefix_cells[q][1] = prefix[q];
        }
        std::vector<float> exact_down(kLanes), sub_information(kLanes), none(kLanes, 0.0f);
        for (Index l = 0; l < kLanes; ++l) {
          Count counts[8];
          for (int q = 0; q < 2; ++q) {
            counts[0 + q] = static_cast<Count>(job.counts.prefix_cells[q][0] - (ones[q][l] - both[q][l]));
            counts[2 + q] = static_cast<Count>(prefix[q] - both[q][l]);
            counts[4 + q] = static_cast<Count>(ones[q][l] - both[q][l]);
            counts[6 + q] = static_cast<Count>(both[q][l]);
          }
          const double bits = tables.to_bits(information(tables.of_tuple(), counts, 4, 2));
          exact_down[l] = static_cast<float>(two_level.information_of(bits));
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
        std::int16_t survivors[kLanes];
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
          if (polynomial_is_tight(two_level.model())) {  // nothing else uses polynomials
            check(kernels.score_polynomial[1][1](two_level.model(), job) == kLanes, "polynomial is above",
                  name_of(level));
            informations.push_back(kernels.information_polynomial[1][1]);
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

}  // namespace

int main() {
  std::mt19937 rng(7);
  test_against_count_by_hand(rng);
  test_two_level_tiles(rng);
  test_bounds(rng);
  std::printf("%d passed, %d failed\n", checks - failures, failures);
  return failures == 0 ? 0 : 1;
}
