// a tile → the searcher that takes it, and its cost, about. Nothing else decides either.
#pragma once

#include <span>

#include "interplay/tile_searcher.hpp"

namespace interplay {

// Who searches a tile, the fastest first: lanes are triples, pairs or single variables of two levels, with two classes;
// or variables of any levels, with any classes; the same with counts wide enough for many samples; the same with sums,
// of a number outcome; or there are no lanes.
enum class Searcher : std::uint8_t { none, triples, pairs, singles, levels, wide, sums, direct };
inline constexpr Searcher kSearchers[] = {Searcher::triples, Searcher::pairs, Searcher::singles, Searcher::levels,
                                          Searcher::wide,    Searcher::sums,  Searcher::direct};

const char* name_of(Searcher searcher);

// For callers that cut tiles. Variables of a full register of lanes:
Index lanes_of_register();
// Variables at the end of the order whose triples are searched together:
Index triple_block_size();
// Variables of a block beyond which the tables over a tile's blocks would not fit, in four dimensions and more:
Index max_block_size(Index dimensions);

// Looks at shapes alone: the words of the planes may be missing.
class Routing {
 public:
  // direct_only: leave the lane kernels out, to compare with
  explicit Routing(const SearchProblem& problem, bool direct_only = false);

  Searcher searcher_of(const std::int32_t* tile) const;
  // Whether the searcher is direct only because the tables over blocks so large would not fit.
  bool wants_smaller_blocks(const std::int32_t* tile) const;
  // About how many nanoseconds a thread takes for a tile: whole numbers, the same on every machine, so that parts of
  // a search are cut alike wherever they run.
  double cost_of(const std::int32_t* tile) const;

 private:
  bool has_two_levels(const std::int32_t* tile) const;
  bool has_few_cells(const std::int32_t* tile) const;
  bool takes_triples(const std::int32_t* tile) const;
  bool takes_pairs(const std::int32_t* tile) const;
  bool takes_singles(const std::int32_t* tile) const;
  bool pairs_pay(const std::int32_t* tile) const;

  const SearchProblem& problem_;
  Index k_;
  // Whether these searchers can take any tile.
  bool two_level_lanes_ = false, level_lanes_ = false, wide_lanes_ = false, sum_lanes_ = false;
};

}  // namespace interplay
