#include "rows/two_level_data.hpp"

#include <cmath>

#include "information/lane_model.hpp"

namespace interplay {

TwoLevelData::TwoLevelData(const SearchProblem& problem, const LaneKernels& kernels)
    : LaneRows(problem, kernels, 2, SampleRowLayout(problem.planes)),
      model_(make_lane_model(problem.planes.class_sizes, problem.pseudocount,
                             std::exp2(static_cast<double>(problem.tiles.dimensions)))) {}

}  // namespace interplay
