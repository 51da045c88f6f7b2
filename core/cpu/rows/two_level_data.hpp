// bit planes of two-level variables → a bit row per sample, and the constants of the bound
#pragma once

#include "rows/lane_rows.hpp"

namespace interplay {

// Made once per search and shared by its threads.
class TwoLevelData : public LaneRows {
 public:
  TwoLevelData(const SearchProblem& problem, const LaneKernels& kernels);

  const LaneModel& model() const { return model_; }

 private:
  const LaneModel model_;
};

}  // namespace interplay
