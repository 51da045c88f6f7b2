// The searchers of two-level, two-class tiles.
#pragma once

#include "rows/two_level_data.hpp"
#include "search/bound_trial.hpp"
#include "search/survivor_sink.hpp"

namespace interplay {

// Lanes are single variables (n_parts = 1) or pairs of them (2), which come after the prefix; two to five dimensions,
// with pairs from three on.
std::unique_ptr<TileSearcher> make_two_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                      const TwoLevelData& data, const LaneKernels& kernels, int n_parts,
                                                      BoundTrial& trial, SurvivorSink& sink, SearchProgress& progress);

// Lanes are the triples of a block of a few variables that has none after it; four and five dimensions.
std::unique_ptr<TileSearcher> make_triple_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                   const TwoLevelData& data, const LaneKernels& kernels,
                                                   BoundTrial& trial, SurvivorSink& sink, SearchProgress& progress);

}  // namespace interplay
