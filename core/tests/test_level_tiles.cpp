// Levels and wide: real blocks and lanes of any levels against the direct search.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "check.hpp"
#include "searches.hpp"
#include "tests.hpp"

// Real blocks and lanes, of runs of variables with equal numbers of levels: every searcher finds the same as the direct
// one.
void check_level_tiles(const Data& data, bool with_screens) {
  const Index dimensions = data.dimensions;
  const Packed packed = pack(data);
  std::vector<Index> order, lane_start{0}, block_start{0};
  for (Index row = 0; row < data.n_rows(); ++row) {
    order.push_back(row);
    const bool ends_run =
        row + 1 == data.n_rows() || row + 1 == data.n_vars || data.levels[row + 1] != data.levels[row];
    if (ends_run) lane_start.push_back(row + 1);
    if (ends_run || (row + 1 - lane_start.back()) % 6 == 0) block_start.push_back(row + 1);
  }
  const auto n_real = [&](const std::vector<Index>& start) {
    return static_cast<Index>(std::lower_bound(start.begin(), start.end(), data.n_vars) - start.begin());
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
  if (with_screens) check_screens(problem, nullptr);
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
      check_level_tiles(data, n_classes == *numbers_of_classes.begin());
    }
  }
}

// Eight levels, so that most cells are small and are counted in bytes. Of some variables most samples have one level:
// their prefixes have cells of more than 255 samples, or lanes with cells of more than 16.
void test_small_cell_tiles(std::mt19937& rng) {
  for (const double share : {0.5, 0.42, 0.15}) {
    constexpr Index n_samples = 1400, n_vars = 80;  // several registers, the first of which come before some prefixes
    Data data = make_data(rng, n_samples, n_vars, 5, 2, 3, 2);
    std::fill(data.sizes.begin(), data.sizes.end(), 0);
    for (Index i = 0; i < n_samples; ++i) {
      data.decision[i] = static_cast<double>(i) >= share * n_samples;
      ++data.sizes[data.decision[i]];
    }
    for (Index row = 0; row < data.n_rows(); ++row) {
      data.levels[row] = 8;
      for (Index i = 0; i < n_samples; ++i) {
        const auto level = static_cast<std::uint8_t>(rng() % 8);
        const bool follows_class = row % 5 == 1 && rng() % 2 == 0;
        data.codes[row][i] = row % 5 == 0 && rng() % 4 ? 3 : follows_class ? level / 2 + 4 * data.decision[i] : level;
      }
    }
    data.codes[7] = data.codes[6];
    check_level_tiles(data, true);
  }
}
