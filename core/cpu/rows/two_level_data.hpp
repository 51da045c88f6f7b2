// bit planes of two-level variables → a bit row per sample, and the constants of the bound
#pragma once

#include "rows/lane_rows.hpp"

namespace interplay {

// Made once per search and shared by its threads.
class TwoLevelData : public LaneRows {
 public:
  // Whether the lane kernels can search any tile of this problem.
  static bool applies_to(const SearchProblem& problem);
  // Whether there is nothing else to search.
  static bool applies_to_all(const SearchProblem& problem);

  TwoLevelData(const SearchProblem& problem, const LaneKernels& kernels);

  // Whether a tile holds two-level variables only.
  bool applies_to(const std::int32_t* tile) const;

  const LaneModel& model() const { return model_; }

 private:
  const SearchProblem& problem_;
  const LaneModel model_;
};

}  // namespace interplay
