// Any levels and classes, two to five dimensions: counts only patterns that follow from no other count, scores only
// survivors of a bound.
#pragma once

#include "interplay/tile_searcher.hpp"
#include "rows/level_data.hpp"

namespace interplay {

// The length of a segment: samples of a class that are counted at a time, whose rows stay in cache.
Index segment_samples(const SearchProblem& problem);

// Counts of 16 bits: classes of up to kMaxFastClassSize samples.
std::unique_ptr<TileSearcher> make_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                  const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                  SearchProgress& progress);

// Counts that are floats: up to kMostSamplesOfFloats samples in all.
std::unique_ptr<TileSearcher> make_wide_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                 const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                 SearchProgress& progress);

// Of a number outcome.
std::unique_ptr<TileSearcher> make_sum_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                SearchProgress& progress);

}  // namespace interplay
