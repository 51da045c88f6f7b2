// class sizes → the constants of the bounds for two classes
#pragma once

#include "interplay/lane_kernels.hpp"

namespace interplay {

// n_cells: the most that a tuple can have.
LaneModel make_lane_model(std::span<const Index> class_sizes, double pseudocount, double n_cells);

// Whether polynomials let few enough tuples through.
bool polynomial_is_tight(const LaneModel& model);

}  // namespace interplay
