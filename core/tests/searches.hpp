// Runs searches and compares their results: for the tests of searchers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "interplay/tuple_search.hpp"
#include "made_up_data.hpp"

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

inline std::vector<Row> all_rows(TupleRowsByTile& by_tile, const SearchProblem& problem) {
  const Index k = problem.tiles.dimensions;
  std::vector<Row> rows;
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) {
    const TupleRows& found = by_tile.of_tile(tile);
    for (Index row = 0; row < found.size(); ++row) {
      rows.push_back({{found.tuple(row), found.tuple(row) + k}, found.variable(row), found.value(row)});
    }
  }
  return rows;
}

// All that exceeds a threshold, tile by tile.
inline std::vector<Row> list_rows(const SearchProblem& problem, SimdLevel level, bool direct_only, double threshold) {
  std::vector<double> thresholds(problem.planes.n_rows() * problem.partner_cells.size(), threshold);
  TupleRowsByTile by_tile(problem.tiles.size(), problem.tiles.dimensions, std::numeric_limits<Index>::max());
  std::vector<std::uint8_t> done(problem.tiles.size(), 0);
  list_tuples(problem, {3, level, [](std::uint64_t) { return true; }, direct_only}, thresholds, by_tile, done);
  return all_rows(by_tile, problem);
}

// test_level_tiles.cpp
void check_level_tiles(const Data& data, bool with_screens);

// All tuples of which every member gains this much, and more with more degrees of freedom; tile by tile.
inline std::vector<Row> screen_rows(const SearchProblem& problem, SimdLevel level, bool direct_only, double least,
                                    bool has_stratum = false) {
  std::vector<double> min_gain{0.0};
  for (int df = 1; df < 12; ++df) min_gain.push_back(least + 0.2 * (df - 1));
  const EveryMember rule{min_gain, has_stratum};
  SearchProblem screened = problem;
  screened.every_member = &rule;
  TupleRowsByTile by_tile(problem.tiles.size(), problem.tiles.dimensions, std::numeric_limits<Index>::max());
  std::vector<std::uint8_t> done(problem.tiles.size(), 0);
  screen_tuples(screened, {3, level, [](std::uint64_t) { return true; }, direct_only}, by_tile, done);
  return all_rows(by_tile, problem);
}

// The tiles without contrast variables, which have nothing to do with every member.
inline std::vector<std::int32_t> real_tiles(const SearchProblem& problem) {
  std::vector<std::int32_t> tiles;
  const Index k = problem.tiles.dimensions;
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) {
    const std::int32_t* blocks = problem.tiles[tile];
    if (problem.block_end(blocks, k - 1) <= problem.planes.n_vars) tiles.insert(tiles.end(), blocks, blocks + k);
  }
  return tiles;
}

// Every searcher lists the same tuples of which every member gains; those of two levels by hand.
inline void check_screens(const SearchProblem& with_contrast, const Data* data) {
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
inline Found search(const Data& data, const Packed& packed, SimdLevel level, int n_threads, bool direct_only) {
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
