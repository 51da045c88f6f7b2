// The problem of a search, and the searcher of a tile: one per thread, with buffers and a sink of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>

#include "interplay/every_member.hpp"
#include "interplay/information_gain.hpp"
#include "interplay/simd_level.hpp"
#include "interplay/tuple_statistic.hpp"
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
  // If set, tuples are scored by this instead of by the gains of their members: by the direct searcher alone.
  const StatisticFormula* statistic = nullptr;
  // If set, each tuple of which every member gains enough is listed, once, instead of every member that does.
  const EveryMember* every_member = nullptr;

  // The block that a tile has at some place, as places in the order of variables.
  Index block_begin(const std::int32_t* tile, Index place) const {
    return blocks.starts(place, tiles.dimensions)[tile[place]];
  }
  Index block_end(const std::int32_t* tile, Index place) const {
    return blocks.starts(place, tiles.dimensions)[tile[place] + 1];
  }
  Index block_size(const std::int32_t* tile, Index place) const {
    return block_end(tile, place) - block_begin(tile, place);
  }
  // Levels of a variable, by its place in the order, and of all variables of a block.
  Index levels_at(Index place) const { return planes.n_levels[blocks.order[place]]; }
  Index block_levels(const std::int32_t* tile, Index place) const { return levels_at(block_begin(tile, place)); }

  // The group of a variable whose partners have this many cells.
  Index group_of(Index n_partner_cells) const {
    return std::lower_bound(partner_cells.begin(), partner_cells.end(), n_partner_cells) - partner_cells.begin();
  }
};

// Shared by the threads: the next tile to take, the tuples done, whether to stop.
struct SearchProgress {
  std::atomic<Index> next_tile{0};
  std::atomic<std::uint64_t> tuples_done{0};
  std::atomic<bool> stop{false};
  // Threads that tried both bounds (see bound_trial.hpp), by the bound they chose.
  std::atomic<int> polynomial_threads{0}, rational_threads{0};
};

class SurvivorSink;  // search/survivor_sink.hpp

class TileSearcher {
 public:
  virtual ~TileSearcher() = default;
  // Search a tile; returns whether all of it was searched.
  virtual bool search(const std::int32_t* tile) = 0;
};

// Any levels, classes and dimensions: counts every cell, scores every tuple. Other searchers count only patterns that
// follow from no other count, and score only survivors of a bound: search/level_search.hpp, and for two levels and
// classes search/two_level_search.hpp.
std::unique_ptr<TileSearcher> make_direct_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                   SimdLevel level, SurvivorSink& sink, SearchProgress& progress);

}  // namespace interplay
