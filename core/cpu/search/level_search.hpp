// Any levels and classes, two to five dimensions: counts what no other count implies, scores what a bound leaves.
#pragma once

#include "interplay/tile_searcher.hpp"
#include "rows/level_data.hpp"

namespace interplay {

// Samples of a class that are counted at a time, whose rows stay in cache: the layout of the data is to have segments
// of so many.
Index segment_samples(const SearchProblem& problem);

// Counts of 16 bits: classes of up to kMaxFastClassSize samples.
std::unique_ptr<TileSearcher> make_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                  const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                  SearchProgress& progress);

// Counts that are floats: up to kMostSamplesOfFloats samples in all.
std::unique_ptr<TileSearcher> make_wide_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                 const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                 SearchProgress& progress);

}  // namespace interplay
