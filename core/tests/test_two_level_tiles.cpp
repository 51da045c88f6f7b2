// Triples, pairs and singles: real blocks and lanes of two levels against the direct search.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

#include "check.hpp"
#include "searches.hpp"
#include "tests.hpp"

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
