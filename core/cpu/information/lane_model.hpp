// class sizes → the constants of the bounds
#pragma once

#include "kernels/lane_kernels.hpp"

namespace interplay {

// Of two classes. n_cells: the most that a tuple can have.
LaneModel make_lane_model(std::span<const Index> class_sizes, double pseudocount, double n_cells);

// The excess of a sum of x·log2(x), in bits, over the information (as LaneModel means it), by the cells of the full
// table.
class InformationOffset {
 public:
  InformationOffset(std::span<const Index> class_sizes, double pseudocount);
  double operator()(Index n_cells) const { return of_samples_ + static_cast<double>(n_cells) * of_cell_; }

 private:
  double of_samples_ = 0, of_cell_ = 0;
};

// Whether the polynomials are bounds worth trying: where classes are very uneven, an error of δ is not small in them.
bool polynomial_is_sound(const LaneModel& model);

}  // namespace interplay
