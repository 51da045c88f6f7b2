// bit planes + tiles of tuples → maximum gains, on all threads
#pragma once

#include <functional>

#include "interplay/information_gain.hpp"
#include "interplay/max_gains.hpp"
#include "interplay/simd_level.hpp"
#include "interplay/types.hpp"

namespace interplay {

struct SearchProblem {
  BitPlanes planes;
  VariableBlocks blocks;
  TupleTiles tiles;
  // Products of the numbers of levels of a variable's partners, ascending: group g of a row has this many partner
  // cells, hence degrees of freedom of its own.
  std::span<const Index> partner_cells;
  double pseudocount;
  Index discretization;
};

struct SearchOptions {
  int n_threads;
  SimdLevel simd_level;
  // Called about ten times a second from the calling thread with the number of tuples done so far; returning false
  // stops the search.
  std::function<bool(std::uint64_t)> on_tick;
};

// Search the tiles, into `best`, which may hold the results of earlier searches.
// tile_done: OUT one byte per tile, set when all of its tuples were searched
// Returns whether all tiles were done.
bool search_max_gains(const SearchProblem& problem, const SearchOptions& options, MaxGains& best,
                      std::span<std::uint8_t> tile_done);

}  // namespace interplay
