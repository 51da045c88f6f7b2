// bit planes of variables with any number of levels → a bit row per sample, and the constants of the bound
#pragma once

#include "rows/lane_rows.hpp"

namespace interplay {

// Made once per search and shared by its threads.
class LevelData : public LaneRows {
 public:
  static constexpr Index kMaxLevels = kMaxLaneLevels;
  static constexpr Index kMaxCells = 4096;  // of a tuple, of all classes: their counts should stay in cache

  LevelData(const SearchProblem& problem, const LaneKernels& kernels, SampleRowLayout layout);

  const LevelModel& model() const { return model_; }

 private:
  void make_model();
  void make_sum_model();

  const SearchProblem& problem_;
  LevelModel model_{};
};

}  // namespace interplay
