// The core against a count by hand, for every instruction set that runs here. Built with AddressSanitizer and UBSan by
// `make sanitize`, with ThreadSanitizer by `make tsan`; exits 1 if anything differs. With the word "threads", only what
// several threads do at once.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "interplay/bit_planes.hpp"
#include "interplay/lane_model.hpp"
#include "interplay/level_data.hpp"
#include "interplay/rank_values.hpp"
#include "interplay/tuple_search.hpp"
#include "interplay/two_level_data.hpp"

namespace {

using namespace interplay;

// Counted by several threads.
std::atomic<int> failures = 0;
std::atomic<int> checks = 0;

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

struct Row {
  std::vector<std::int32_t> tuple;
  std::int32_t variable;
  double value;
  bool operator==(const Row&) const = default;
};

// All that exceeds a threshold, tile by tile.
std::vector<Row> list_rows(const SearchProblem& problem, SimdLevel level, bool direct_only, double threshold) {
  const Index k = problem.tiles.dimensions;
  std::vector<double> thresholds(problem.planes.n_rows() * problem.partner_cells.size(), threshold);
  MaxGains above{thresholds, {}, {}, k};
  TupleRowsByTile by_tile(problem.tiles.size(), k, std::numeric_limits<Index>::max());
  std::vector<std::uint8_t> done(problem.tiles.size(), 0);
  search_max_gains(problem, {3, level, [](std::uint64_t) { return true; }, direct_only, &by_tile}, above, done);
  std::vector<Row> rows;
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) {
    const TupleRows& found = by_tile.of_tile(tile);
    for (Index row = 0; row < found.size(); ++row) {
      rows.push_back({{found.tuple(row), found.tuple(row) + k}, found.variable(row), found.value(row)});
    }
  }
  return rows;
}

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
  // The entropies without one member, less those of the tuple: the sum of the gains of its members.
  std::vector<Index> coefficients(data.dimensions + 1, 0);
  coefficients[data.dimensions - 1] += 1;
  coefficients[data.dimensions] -= data.dimensions;
  const StatisticFormula formula{coefficients, true};
  SearchProblem of_tuples = problem;
  of_tuples.statistic = &formula;
  if (data.dimensions > 1 && data.n_contrast == 0) {
    for (const Row& row : list_rows(of_tuples, level, direct_only, -std::numeric_limits<double>::infinity())) {
      double expected = 0;
      const std::vector<Index> members(row.tuple.begin(), row.tuple.end());
      for (Index m = 0; m < data.dimensions; ++m) expected += gain_by_hand(data, members, m);
      check(std::abs(row.value - expected) < 1e-9, "a sum of entropies equals the count by hand", name_of(level));
    }
  }
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

// Real blocks and lanes: two levels, two classes of any shares, one column a copy of another. The last block is a lane
// block of its own; triples of up to 14 variables are searched together.
void test_two_level_tiles(std::mt19937& rng, std::initializer_list<double> shares, Index last_block = 4) {
  for (const double share : shares) {
    for (Index dimensions = last_block > 4 ? 4 : 2; dimensions <= 5; ++dimensions) {
      const Index n_vars = std::array{0, 0, 300, 70, 20, 11}[dimensions] + last_block;
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
      std::vector<Index> order, block_start{0}, lane_start{0, n_vars - last_block, n_vars, n_vars + n_contrast};
      for (Index row = 0; row < data.n_rows(); ++row) order.push_back(row);
      for (Index end = 5; end < n_vars - last_block; end += 5) block_start.push_back(end);
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
      const std::vector<Row> rows = list_rows(problem, SimdLevel::serial, true, 3.0);
      check(!rows.empty(), "there are gains above the threshold", "serial");
      for (const bool direct_only : {true, false}) {
        for (const SimdLevel level : available_simd_levels()) {
          Found found{std::vector<double>(data.n_rows(), -std::numeric_limits<double>::infinity()),
                      std::vector<Index>(data.n_rows(), -1), std::vector<Index>(data.n_rows() * dimensions, -1)};
          MaxGains best{found.gain, found.discretization, found.tuples, dimensions};
          std::vector<std::uint8_t> done(tiles.size() / dimensions, 0);
          search_max_gains(problem, {2, level, [](std::uint64_t) { return true; }, direct_only}, best, done);
          if (expected.gain.empty()) expected = found;
          check(found == expected, "the bound changes nothing", name_of(level));
          check(list_rows(problem, level, direct_only, 3.0) == rows, "the same rows above a threshold", name_of(level));
        }
      }
    }
  }
}

// Real blocks and lanes of any levels: runs of variables with equal numbers of levels, any number of classes.
void test_level_tiles(std::mt19937& rng, std::initializer_list<Index> numbers_of_classes) {
  for (const Index n_classes : numbers_of_classes) {
    for (Index dimensions = 2; dimensions <= 4; ++dimensions) {
      const Index n_vars = std::array{0, 0, 150, 40, 14}[dimensions];
      const Index n_contrast = 5;
      Data data = make_data(rng, 420, n_vars, n_contrast, n_classes, dimensions, 2);
      data.pseudocount = std::array{0.25, 0.25, 300.0}[rng() % 3];
      // The first half has three levels, the rest two to five in runs of seven; contrast variables have three.
      for (Index row = 0; row < data.n_rows(); ++row) {
        const Index c = row < n_vars / 2 || row >= n_vars ? 3 : 2 + (row - n_vars / 2) / 7 % 4;
        data.levels[row] = c;
        for (std::uint8_t& code : data.codes[row]) code = static_cast<std::uint8_t>(rng() % c);
      }
      data.codes[2] = data.codes[1];
      std::fill(data.codes[0].begin(), data.codes[0].end(), std::uint8_t{0});
      std::fill(data.sizes.begin(), data.sizes.end(), 0);
      for (Index i = 0; i < data.n_samples; ++i) {
        if (rng() % 3 == 0) data.decision[i] = (data.codes[1][i] + data.codes[n_vars - 1][i]) % n_classes;
        if (i < n_classes) data.decision[i] = i;
        ++data.sizes[data.decision[i]];
      }
      const Packed packed = pack(data);
      std::vector<Index> order, lane_start{0}, block_start{0};
      for (Index row = 0; row < data.n_rows(); ++row) {
        order.push_back(row);
        const bool ends_run = row + 1 == data.n_rows() || row + 1 == n_vars || data.levels[row + 1] != data.levels[row];
        if (ends_run) lane_start.push_back(row + 1);
        if (ends_run || (row + 1 - lane_start.back()) % 6 == 0) block_start.push_back(row + 1);
      }
      const auto n_real = [&](const std::vector<Index>& start) {
        return static_cast<Index>(std::lower_bound(start.begin(), start.end(), n_vars) - start.begin());
      };
      std::vector<std::int32_t> tiles, tile;
      std::vector<Index> cells;
      const auto add_tiles = [&](auto&& self, Index from) -> void {
        const bool is_last = static_cast<Index>(tile.size()) + 1 == dimensions;
        const Index n_blocks = is_last ? static_cast<Index>(lane_start.size()) - 1 : n_real(block_start);
        for (Index b = is_last ? 0 : from; b < n_blocks; ++b) {
          tile.push_back(static_cast<std::int32_t>(b));
          if (is_last) {
            Index product = 1;
            std::vector<Index> of_place;
            for (std::size_t m = 0; m < tile.size(); ++m) {
              of_place.push_back(data.levels[(m + 1 == tile.size() ? lane_start : block_start)[tile[m]]]);
              product *= of_place.back();
            }
            for (const Index c : of_place) cells.push_back(product / c);
            tiles.insert(tiles.end(), tile.begin(), tile.end());
          } else {
            self(self, b);
          }
          tile.pop_back();
        }
      };
      add_tiles(add_tiles, 0);
      std::sort(cells.begin(), cells.end());
      cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
      const SearchProblem problem{{packed.words, packed.n_words, packed.plane_start, data.levels,
                                   packed.class_word_start, data.sizes, data.n_vars},
                                  {order, block_start, block_start, lane_start},
                                  {tiles, dimensions},
                                  cells,
                                  data.pseudocount,
                                  0};
      const std::size_t n_slots = data.n_rows() * cells.size();
      Found expected;
      for (const bool direct_only : {true, false}) {
        for (const SimdLevel level : available_simd_levels()) {
          Found found{std::vector<double>(n_slots, -std::numeric_limits<double>::infinity()),
                      std::vector<Index>(n_slots, -1), std::vector<Index>(n_slots * dimensions, -1)};
          MaxGains best{found.gain, found.discretization, found.tuples, dimensions};
          std::vector<std::uint8_t> done(tiles.size() / dimensions, 0);
          search_max_gains(problem, {2, level, [](std::uint64_t) { return true; }, direct_only}, best, done);
          if (expected.gain.empty()) expected = found;
          check(found == expected, "any levels: the bound changes nothing", name_of(level));
        }
      }
    }
  }
}

void test_transpose(std::mt19937& rng) {
  for (const SimdLevel level : available_simd_levels()) {
    alignas(32) Word words[64 * kWordsPerRow], transposed[64 * kWordsPerRow];
    for (Index i = 0; i < 64 * kWordsPerRow; ++i) transposed[i] = words[i] = Word{rng()} << 32 | rng();
    lane_kernels(level).transpose(transposed);
    bool is_right = true;
    for (int row = 0; row < 64; ++row) {
      for (int bit = 0; bit < 64; ++bit) {
        for (int matrix = 0; matrix < kWordsPerRow; ++matrix) {
          const Word there = transposed[bit * kWordsPerRow + matrix] >> row & 1;
          is_right = is_right && (words[row * kWordsPerRow + matrix] >> bit & 1) == there;
        }
      }
    }
    check(is_right, "matrices of bits are transposed", name_of(level));
  }
}

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

// The kernels for any levels and classes: three levels each, one prefix variable, every lane with a table of its own.
void test_level_bounds(std::mt19937& rng) {
  for (const Index n_classes : {2, 3, 5}) {
    for (const Index n_samples : {60, 3000, 60000}) {
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
      if (data.sizes[0] > kMaxFastClassSize) continue;
      const Packed packed = pack(data);
      const std::vector<Index> order{0, 1}, start{0, 1, 2}, lanes{0, 2}, partner_cells{3};
      const std::vector<std::int32_t> tiles{0, 0};
      const SearchProblem problem{{packed.words, packed.n_words, packed.plane_start, data.levels,
                                   packed.class_word_start, data.sizes, data.n_vars},
                                  {order, start, start, lanes},
                                  {tiles, 2},
                                  partner_cells,
                                  data.pseudocount,
                                  0};
      const LevelData levels(problem, lane_kernels_portable());
      const std::vector<Index> distinct{3};
      const InformationTables tables(data.sizes, data.pseudocount, distinct, 9);
      const Index stride = LevelData::lane_stride(3);
      for (int repeat = 0; repeat < 40; ++repeat) {
        AlignedBuffer<LaneCount> counts, scratch;
        counts.resize(n_classes * 3 * kLanes);
        scratch.resize(9 * n_classes * 16);
        std::vector<const LaneCount*> with_lane;
        std::vector<std::int32_t> prefix_cells;
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
          for (const Index n : of_level) prefix_cells.push_back(static_cast<std::int32_t>(n));
          LaneCount* of_class = counts.data() + q * 3 * kLanes;
          for (int pattern = 0; pattern < 3; ++pattern) with_lane.push_back(of_class + pattern * kLanes);
          for (Index lane = 0; lane < stride; ++lane) {
            Index open[2] = {0, 0};
            for (const int level : {0, 1, 2}) {
              const Index first = rng() % 4 == 0 ? 0 : rng() % (of_level[level] + 1);
              const Index second = rng() % 4 == 0 ? 0 : rng() % (of_level[level] - first + 1);
              const Index of_lane[3] = {of_level[level] - first - second, first, second};
              for (int l = 0; l < 3; ++l) cells[lane][(level * 3 + l) * n_classes + q] = static_cast<Count>(of_lane[l]);
              for (int l = 0; l < 2; ++l) {
                open[l] += of_lane[l + 1];
                if (level > 0) of_class[level * kLanes + l * stride + lane] = static_cast<LaneCount>(of_lane[l + 1]);
              }
            }
            for (int l = 0; l < 2; ++l) of_class[l * stride + lane] = static_cast<LaneCount>(open[l]);
          }
        }
        LevelScoreJob job{};
        job.counts = {{1, {3}, 3, 3, static_cast<int>(stride)}, with_lane.data(), prefix_cells.data(), scratch.data()};
        std::vector<float> exact(stride), none(stride, 0.0f);
        std::vector<Survivor> survivors(stride);
        for (Index lane = 0; lane < stride; ++lane) {
          const double bits = tables.to_bits(information(tables.of_tuple(), cells[lane].data(), 9, n_classes));
          exact[lane] = static_cast<float>(levels.information_of(bits, 9));
        }
        job.without_member[0] = none.data();
        job.best_of_member[0] = std::numeric_limits<float>::infinity();
        job.best_of_lane = exact.data();
        job.last_lane = static_cast<int>(stride);
        job.survivors = survivors.data();
        for (const SimdLevel level : available_simd_levels()) {
          const LevelKernels& kernels = lane_kernels(level).levels;
          std::vector<LevelScoreKernel> scores{kernels.score};
          if (n_classes == 3) scores.push_back(kernels.score_three_classes);
          if (n_classes == 2) {
            for (const int lane_levels : {0, 3}) scores.push_back(kernels.score_rational[lane_levels]);
            if (polynomial_is_sound(levels.model().two_classes)) {
              scores.push_back(kernels.score_polynomial[3]);
              scores.push_back(kernels.score_three_levels[1]);
            }
          }
          for (const LevelScoreKernel score : scores) {
            check(score(levels.model(), job) == stride, "any levels: bound is above", name_of(level));
          }
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

template <class Work>
void at_once(int n_threads, const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n_threads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

// As threads of Python do it, which hold no lock meanwhile: rows of one array are packed, ranks are looked for, and the
// same planes are searched, by several callers with several threads each.
void test_callers_at_once() {
  std::mt19937 rng(7);
  constexpr int kCallers = 4;
  for (const Index max_levels : {2, 4}) {
    const Data data = make_data(rng, 700, 14, 1, 2, 3, max_levels);
    const Packed packed = pack(data);
    std::vector<Word> words(packed.words.size(), 0);
    std::vector<Index> sample_order;
    std::vector<std::uint8_t> codes;
    for (Index q = 0; q < data.n_classes; ++q) {
      for (Index i = 0; i < data.n_samples; ++i) {
        if (data.decision[i] == q) sample_order.push_back(i);
      }
    }
    for (const auto& column : data.codes) codes.insert(codes.end(), column.begin(), column.end());
    at_once(kCallers, [&](int caller) {
      const Index first = data.n_rows() * caller / kCallers, last = data.n_rows() * (caller + 1) / kCallers;
      pack_bit_planes(codes, sample_order, data.sizes, packed.class_word_start, packed.plane_start, first, last, words);
    });
    check(words == packed.words, "planes packed by several threads", "bit_planes");

    std::vector<double> values(2 * 3000);
    for (double& value : values) value = static_cast<double>(rng() % 1000);
    const std::array<Index, 2> ranks{700, 2200};
    std::array<std::array<double, 2>, kCallers> at_ranks{};
    at_once(kCallers, [&](int caller) {
      RankValues<double> of_row;
      of_row(values.data() + caller % 2 * 3000, 3000, ranks.data(), 2, at_ranks[caller].data());
    });
    check(at_ranks[0] == at_ranks[2] && at_ranks[1] == at_ranks[3], "ranks found by several threads", "rank_values");

    for (const SimdLevel level : available_simd_levels()) {
      const Found expected = search(data, packed, level, 1, true);
      std::array<Found, kCallers> found;
      at_once(kCallers, [&](int caller) { found[caller] = search(data, packed, level, 3, caller % 2 == 0); });
      for (const Found& one : found) check(one == expected, "several searches at once", name_of(level));
    }
  }
}

// Long enough, under ThreadSanitizer, that the threads hand in what they found while others are still searching.
void test_long_search() {
  std::mt19937 rng(7);
  const Data data = make_data(rng, 700, 80, 1, 2, 3, 2);
  const Packed packed = pack(data);
  const Found expected = search(data, packed, SimdLevel::serial, 3, true);
  check(search(data, packed, available_simd_levels().back(), 3, false) == expected, "long searches", "threads");
}

// The kernels of every instruction set, on columns of all lengths, against plain loops.
template <class Value>
void test_column_kernels_of(std::mt19937& rng, const ColumnKernels<Value>& kernels, const char* name) {
  for (const Index n : {1, 63, 64, 65, 500, 40000}) {
    std::vector<Value> values(static_cast<std::size_t>(n));
    for (Value& value : values) value = static_cast<Value>(static_cast<int>(rng() % 200) - 100);
    const Value low = -3, high = 5;
    const auto inside = [&](Value value) { return low <= value && value <= high; };
    const ApartCounts apart = kernels.count_apart(values.data(), n, low, high);
    const bool counted = apart.below == std::count_if(values.begin(), values.end(), [&](Value v) { return v < low; }) &&
                         apart.above == std::count_if(values.begin(), values.end(), [&](Value v) { return v > high; });
    check(counted, "values counted on either side", name);
    std::vector<Value> gathered(values.size() + 1), expected;
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), inside);
    gathered.resize(static_cast<std::size_t>(kernels.gather(values.data(), n, low, high, gathered.data())));
    check(gathered == expected, "values gathered", name);
    std::vector<Word> bits(static_cast<std::size_t>((n + 63) / 64));
    kernels.mark_above(values.data(), n, low, bits.data());
    bool marked = true;
    for (Index i = 0; i < n; ++i) marked &= (bits[i / 64] >> (i % 64) & 1) == (values[i] > low);
    check(marked && (n % 64 == 0 || bits.back() >> (n % 64) == 0), "values marked", name);
    check(!kernels.has_nan(values.data(), n), "no NaN", name);
    RankValues<Value> of_row(kernels);
    std::vector<Value> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const Index ranks[] = {0, n / 3, n / 2, n - 1};
    Value found[4];
    const bool is_found = of_row(values.data(), n, ranks, 4, found);
    for (int r = 0; r < 4; ++r) check(is_found && found[r] == sorted[ranks[r]], "value at a rank", name);
    if constexpr (std::numeric_limits<Value>::has_quiet_NaN) {
      values.back() = std::numeric_limits<Value>::quiet_NaN();
      check(kernels.has_nan(values.data(), n) && !of_row(values.data(), n, ranks, 4, found), "NaN", name);
    }
  }
}

template <class Value>
void test_column_kernels(std::mt19937& rng) {
  test_column_kernels_of(rng, column_kernels_portable<Value>(), "portable columns");
  test_column_kernels_of(rng, column_kernels<Value>(), "best columns");
}

}  // namespace

int main(int n_arguments, char** arguments) {
  std::mt19937 rng(7);
  test_callers_at_once();
  if (n_arguments > 1 && arguments[1] == std::string_view("threads")) {
    test_long_search();
    test_two_level_tiles(rng, {0.4});
    test_level_tiles(rng, {3});
    std::printf("%d passed, %d failed\n", checks - failures, failures.load());
    return failures == 0 ? 0 : 1;
  }
  test_against_count_by_hand(rng);
  test_two_level_tiles(rng, {0.5, 0.4, 0.25, 0.1});
  for (const Index last_block : {11, 14, 15}) test_two_level_tiles(rng, {0.5, 0.2}, last_block);
  test_level_tiles(rng, {2, 3, 4});
  test_transpose(rng);
  test_column_kernels<double>(rng);
  test_column_kernels<float>(rng);
  test_column_kernels<std::int16_t>(rng);
  test_column_kernels<std::int32_t>(rng);
  test_column_kernels<std::int64_t>(rng);
  test_rational_bound(rng);
  test_level_bounds(rng);
  test_bounds(rng);
  std::printf("%d passed, %d failed\n", checks - failures, failures.load());
  return failures == 0 ? 0 : 1;
}
