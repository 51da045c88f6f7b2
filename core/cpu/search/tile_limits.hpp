// The numbers of a tile that must fit into a searcher's tables: routing.cpp checks them, searchers rely on them.
#pragma once

#include <algorithm>

#include "interplay/tile_searcher.hpp"
#include "kernels/lane_kernels.hpp"

namespace interplay {

// Entries of a table over two-level blocks, of 2 to 4 KB each: a thread holds a few tables.
inline constexpr Index kMaxTableEntries = Index{1} << 15;

// Variables before the end of the block whose triples are lanes, each with a table entry of 13 KB.
inline constexpr Index kMaxTripleVars = 1024;

// A thread's tables over blocks of any levels: more than this many counts in one (16 MB), and the variables of the last
// place of the prefix are taken a few at a time.
inline constexpr Index kMaxTableCounts = Index{1} << 23;

// Counts with a register of lanes in the largest table over any levels, for each variable of the prefix's last place.
inline Index table_counts_of_last_var(const SearchProblem& problem, const std::int32_t* tile) {
  const Index n_prefix = problem.tiles.dimensions - 1;
  Index n_counts = problem.planes.cell_size() * kLanes;
  for (Index m = 0; m < n_prefix; ++m) {
    n_counts *= problem.block_levels(tile, m) - 1;
    if (m > 0 && m + 1 < n_prefix) n_counts *= problem.block_size(tile, m);
  }
  return n_counts;
}

// Variables of the prefix's last place to take at a time, so that the tables over any levels fit; 0 if they cannot.
inline Index last_prefix_vars_at_a_time(const SearchProblem& problem, const std::int32_t* tile) {
  const Index size = problem.block_size(tile, problem.tiles.dimensions - 2);
  return std::min(size, kMaxTableCounts / table_counts_of_last_var(problem, tile));
}

}  // namespace interplay
