// class sizes → the constants of the bounds for two classes
#pragma once

#include "simd/lane_kernels.hpp"

namespace interplay {

// n_cells: the most that a tuple can have.
LaneModel make_lane_model(std::span<const Index> class_sizes, double pseudocount, double n_cells);

// Whether the polynomials are bounds worth trying: where classes are very uneven, an error of δ is not small in them.
bool polynomial_is_sound(const LaneModel& model);

}  // namespace interplay
