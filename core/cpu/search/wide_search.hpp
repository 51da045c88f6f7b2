#pragma once

#include "interplay/tile_searcher.hpp"
#include "rows/level_data.hpp"

namespace interplay {

// Samples of a class that are counted at a time, whose rows stay in cache.
Index segment_samples(const SearchProblem& problem);

std::unique_ptr<TileSearcher> make_wide_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                 const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                 SearchProgress& progress);

}  // namespace interplay
