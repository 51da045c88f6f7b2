#include "rows/two_level_data.hpp"

#include <algorithm>
#include <cmath>

#include "bounds/lane_model.hpp"

namespace interplay {

bool TwoLevelData::applies_to(const SearchProblem& problem) {
  const BitPlanes& planes = problem.planes;
  const Index k = problem.tiles.dimensions;
  // Without pseudocounts an empty cell would make the bound divide by zero.
  if (planes.n_classes() != 2 || k < 2 || k > kMaxFastDimensions || problem.pseudocount < 1e-6) return false;
  if (std::max(planes.class_sizes[0], planes.class_sizes[1]) > kMaxFastClassSize) return false;
  return std::any_of(problem.blocks.order.begin(), problem.blocks.order.end(),
                     [&](Index row) { return planes.n_levels[row] == 2; });
}

bool TwoLevelData::applies_to_all(const SearchProblem& problem) {
  return applies_to(problem) && std::all_of(problem.blocks.order.begin(), problem.blocks.order.end(),
                                            [&](Index row) { return problem.planes.n_levels[row] == 2; });
}

TwoLevelData::TwoLevelData(const SearchProblem& problem, const LaneKernels& kernels)
    : LaneRows(problem, kernels, 2),
      problem_(problem),
      model_(make_lane_model(problem.planes.class_sizes, problem.pseudocount,
                             std::exp2(static_cast<double>(problem.tiles.dimensions)))) {}

bool TwoLevelData::applies_to(const std::int32_t* tile) const {
  for (Index m = 0; m < problem_.tiles.dimensions; ++m) {
    if (problem_.planes.n_levels[problem_.blocks.order[problem_.block_begin(tile, m)]] != 2) return false;
  }
  return true;
}

}  // namespace interplay
