// Searches against a count by hand, and through real blocks and lanes against the direct search.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <thread>
#include <vector>

#include "check.hpp"
#include "interplay/count_tables.hpp"
#include "interplay/rank_values.hpp"
#include "interplay/tuple_search.hpp"
#include "made_up_data.hpp"
#include "tests.hpp"

namespace {

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
  TupleRowsByTile by_tile(problem.tiles.size(), k, std::numeric_limits<Index>::max());
  std::vector<std::uint8_t> done(problem.tiles.size(), 0);
  list_tuples(problem, {3, level, [](std::uint64_t) { return true; }, direct_only}, thresholds, by_tile, done);
  std::vector<Row> rows;
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) {
    const TupleRows& found = by_tile.of_tile(tile);
    for (Index row = 0; row < found.size(); ++row) {
      rows.push_back({{found.tuple(row), found.tuple(row) + k}, found.variable(row), found.value(row)});
    }
  }
  return rows;
}

// All tuples of which every member gains this much, and more with more degrees of freedom; tile by tile.
std::vector<Row> screen_rows(const SearchProblem& problem, SimdLevel level, bool direct_only, double least,
                             bool has_stratum = false) {
  const Index k = problem.tiles.dimensions;
  std::vector<double> min_gain{0.0};
  for (int df = 1; df < 12; ++df) min_gain.push_back(least + 0.2 * (df - 1));
  const EveryMember rule{min_gain, has_stratum};
  SearchProblem screened = problem;
  screened.every_member = &rule;
  TupleRowsByTile by_tile(problem.tiles.size(), k, std::numeric_limits<Index>::max());
  std::vector<std::uint8_t> done(problem.tiles.size(), 0);
  screen_tuples(screened, {3, level, [](std::uint64_t) { return true; }, direct_only}, by_tile, done);
  std::vector<Row> rows;
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) {
    const TupleRows& found = by_tile.of_tile(tile);
    for (Index row = 0; row < found.size(); ++row) {
      rows.push_back({{found.tuple(row), found.tuple(row) + k}, found.variable(row), found.value(row)});
    }
  }
  return rows;
}

// The tiles without contrast variables, which have nothing to do with every member.
std::vector<std::int32_t> real_tiles(const SearchProblem& problem) {
  std::vector<std::int32_t> tiles;
  const Index k = problem.tiles.dimensions;
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) {
    const std::int32_t* blocks = problem.tiles[tile];
    if (problem.block_end(blocks, k - 1) <= problem.planes.n_vars) tiles.insert(tiles.end(), blocks, blocks + k);
  }
  return tiles;
}

// Every searcher lists the same tuples of which every member gains; those of two levels by hand.
void check_screens(const SearchProblem& with_contrast, const Data* data) {
  SearchProblem problem = with_contrast;
  const std::vector<std::int32_t> tiles = real_tiles(with_contrast);
  problem.tiles = {tiles, with_contrast.tiles.dimensions};
  // Lower thresholds list so many tuples that it takes minutes under sanitizers.
  const double least = 4.0;
  for (const bool has_stratum : {false, true}) {
    if (has_stratum && problem.tiles.dimensions < 3) continue;
    const std::vector<Row> rows = screen_rows(problem, SimdLevel::serial, true, least, has_stratum);
    for (const Row& row : rows) {
      if (!data || has_stratum) break;
      const std::vector<Index> members(row.tuple.begin(), row.tuple.end());
      double smallest = std::numeric_limits<double>::infinity();
      for (std::size_t m = 0; m < members.size(); ++m) {
        smallest = std::min(smallest, gain_by_hand(*data, members, static_cast<Index>(m)));
      }
      check(std::abs(row.value - smallest) < 1e-9 && smallest > least - 1e-9, "the smallest gain by hand", "serial");
    }
    for (const SimdLevel level : available_simd_levels()) {
      check(screen_rows(problem, level, false, least, has_stratum) == rows,
            "the same tuples of which every member gains", name_of(level));
    }
  }
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
  const SearchProblem problem{planes_of(data, packed),  {order, block_start, block_start, block_start},
                              {tiles, data.dimensions}, cells,
                              data.pseudocount,         0};
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

}  // namespace

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
void test_two_level_tiles(std::mt19937& rng, std::initializer_list<double> shares, Index last_block) {
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
      const SearchProblem problem{planes_of(data, packed), {order, block_start, middle_start, lane_start},
                                  {tiles, dimensions},     cells,
                                  data.pseudocount,        0};
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
      if (share == *shares.begin() && dimensions < 5) check_screens(problem, dimensions < 4 ? &data : nullptr);
    }
  }
}

// On equal gains the lower tuple wins, also where the higher one was found before, and where the tuple without the
// member that gains has no information at all: rounding must not hide that the gains are equal.
void test_ties(std::mt19937& rng) {
  for (int repeat = 0; repeat < 300; ++repeat) {
    const Index n_levels = 2 + repeat % 2;
    Data data = make_data(rng, 100 + static_cast<Index>(rng() % 900), 3, 0, 2, 2, 2);
    data.levels = {n_levels, n_levels, n_levels};
    for (const int constant : {0, 1}) std::fill(data.codes[constant].begin(), data.codes[constant].end(), 0);
    const Packed packed = pack(data);
    const std::vector<Index> order{0, 1, 2}, start{0, 1, 2, 3}, cells{n_levels};
    for (const SimdLevel level : available_simd_levels()) {
      std::vector<double> gain(3, -std::numeric_limits<double>::infinity());
      std::vector<Index> discretization(3, -1), tuples(6, -1);
      MaxGains best{gain, discretization, tuples, 2};
      for (const std::int32_t first : {1, 0}) {
        const std::vector<std::int32_t> tile{first, 2};
        const SearchProblem problem{planes_of(data, packed), {order, start, start, start}, {tile, 2}, cells, 0.25, 0};
        std::vector<std::uint8_t> done(1, 0);
        search_max_gains(problem, {1, level, [](std::uint64_t) { return true; }}, best, done);
      }
      check(tuples[4] == 0, "the lower of two tuples with equal gains", name_of(level));
    }
  }
}

// Tables of chosen tuples, neighbours of which share their first members or not, against a count by hand.
void test_count_tables(std::mt19937& rng) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Index k = 1 + repeat % 4, n_classes = 2 + static_cast<Index>(rng() % 2);
    Data data = make_data(rng, 1 + n_classes + static_cast<Index>(rng() % 700), 8, 0, n_classes, k, 4);
    // Rows 0 and 1 have as many levels, and so have 2 and 3, 4 and 5, 6 and 7: a tuple takes one of each pair.
    for (Index row = 1; row < 8; row += 2) {
      data.levels[row] = data.levels[row - 1];
      for (std::uint8_t& code : data.codes[row]) code = static_cast<std::uint8_t>(rng() % data.levels[row]);
    }
    const Packed packed = pack(data);
    std::vector<Index> tuples;
    for (int t = 0; t < 12; ++t) {
      for (Index m = 0; m < k; ++m) tuples.push_back(2 * m + static_cast<Index>(rng() % 2));
    }
    Index n_numbers = n_classes;
    for (Index m = 0; m < k; ++m) n_numbers *= data.levels[2 * m];
    std::vector<Index> expected(12 * n_numbers, 0);
    for (Index t = 0; t < 12; ++t) {
      for (Index i = 0; i < data.n_samples; ++i) {
        Index at = 0;
        for (Index m = 0; m < k; ++m) at = at * data.levels[2 * m] + data.codes[tuples[t * k + m]][i];
        ++expected[t * n_numbers + at * n_classes + data.decision[i]];
      }
    }
    for (const SimdLevel level : available_simd_levels()) {
      std::vector<Index> counts(expected.size(), -1);
      count_tables(planes_of(data, packed), tuples, k, level, counts);
      check(counts == expected, "tables of tuples equal the count by hand", name_of(level));
    }
  }
}

// Real blocks and lanes of any levels: runs of variables with equal numbers of levels, any number of classes. Where
// there are many samples, counts do not fit 16 bits.
void test_level_tiles(std::mt19937& rng, std::initializer_list<Index> numbers_of_classes, Index n_samples) {
  const bool is_large = n_samples > 1000;
  for (const Index n_classes : numbers_of_classes) {
    for (Index dimensions = 2; dimensions <= (is_large ? 3 : 4); ++dimensions) {
      const Index n_vars = is_large ? std::array{0, 0, 30, 12}[dimensions] : std::array{0, 0, 150, 40, 14}[dimensions];
      const Index n_contrast = 5;
      Data data = make_data(rng, n_samples, n_vars, n_contrast, n_classes, dimensions, 2);
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
      const SearchProblem problem{planes_of(data, packed), {order, block_start, block_start, lane_start},
                                  {tiles, dimensions},     cells,
                                  data.pseudocount,        0};
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
      if (n_classes == *numbers_of_classes.begin()) check_screens(problem, nullptr);
    }
  }
}

namespace {

template <class Work>
void at_once(int n_threads, const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n_threads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

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
