// bit planes of variables with any number of levels → a bit row per sample, and the constants of the bound
#pragma once

#include "rows/lane_rows.hpp"

namespace interplay {

// Made once per search and shared by its threads.
class LevelData : public LaneRows {
 public:
  // Whether the level kernels can search any tile of this problem.
  static bool applies_to(const SearchProblem& problem);

  LevelData(const SearchProblem& problem, const LaneKernels& kernels);

  // Whether a tile has few enough levels and cells.
  bool applies_to(const std::int32_t* tile) const;

  const LevelModel& model() const { return model_; }

 private:
  void make_model();

  const SearchProblem& problem_;
  LevelModel model_{};
};

}  // namespace interplay
