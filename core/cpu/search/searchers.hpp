// The searchers of one thread, and the data that those of all threads share, each made when a tile first needs it.
#pragma once

#include <mutex>
#include <optional>

#include "interplay/routing.hpp"
#include "rows/level_data.hpp"
#include "rows/two_level_data.hpp"
#include "search/bound_trial.hpp"

namespace interplay {

// The bit rows that lanes are read from.
class SharedRows {
 public:
  SharedRows(const SearchProblem& problem, SimdLevel level) : problem_(problem), kernels_(lane_kernels(level)) {}

  const TwoLevelData& of_two_levels();
  const LevelData& of_levels();
  const LaneKernels& kernels() const { return kernels_; }

 private:
  const SearchProblem& problem_;
  const LaneKernels& kernels_;
  std::once_flag two_level_once_, level_once_;
  std::optional<TwoLevelData> two_level_;
  std::optional<LevelData> level_;
};

class Searchers {
 public:
  Searchers(const SearchProblem& problem, const InformationTables& tables, SharedRows& rows, SimdLevel level,
            SurvivorSink& sink, SearchProgress& progress)
      : problem_(problem), tables_(tables), rows_(rows), level_(level), sink_(sink), progress_(progress) {}

  TileSearcher& operator[](Searcher searcher);

 private:
  std::unique_ptr<TileSearcher> make(Searcher searcher);
  // Two-level searchers have one trial in common: its outcome holds for all of them.
  BoundTrial& trial();

  const SearchProblem& problem_;
  const InformationTables& tables_;
  SharedRows& rows_;
  const SimdLevel level_;
  SurvivorSink& sink_;
  SearchProgress& progress_;
  std::optional<BoundTrial> trial_;
  std::unique_ptr<TileSearcher> made_[std::size(kSearchers) + 1];
};

}  // namespace interplay
