// counts and sums of scores → information, of a number outcome
//
// With n samples and the sum S of their integer scores t in each cell, SS = Σ S²/n over the cells is the part of
// Q = Σ t² that the cells explain. The information of a table is J = (N/2)·log2((Q + κ)/(Q − SS + κ)), κ = ξ·Q/N with
// the pseudocount ξ; a gain is a difference of two of these. Each S²/n, and J, is rounded once to 64-bit fixed point:
// sums are exact in any order, and every engine has the same bits.
#pragma once

#include "interplay/types.hpp"

namespace interplay {

using Fixed = std::int64_t;

class SumInformation {
 public:
  // planes: of a number outcome; not all scores are 0
  SumInformation(const BitPlanes& planes, double pseudocount);

  // S²/n, in fixed point. sum: the bits of a signed number
  Fixed square(Count n, Count sum) const {
    if (n == 0) return 0;
    const double s = static_cast<double>(static_cast<std::int32_t>(sum));
    return rounded(s * s / static_cast<double>(n) * scale_);
  }
  Fixed squares(const Count* cells, Index n_cells) const {
    Fixed sum = 0;
    for (Index cell = 0; cell < n_cells; ++cell) sum += square(cells[2 * cell], cells[2 * cell + 1]);
    return sum;
  }
  // J, in fixed point, of a table with this SS.
  Fixed information(Fixed squares) const;

  double unit() const { return unit_; }  // of J, in bits
  // For engines that compute J themselves.
  double scale_of_squares() const { return scale_; }
  Fixed total() const { return total_; }  // Q + κ
  double factor() const { return factor_; }
  double log_of_total() const { return log_of_total_; }

 private:
  static Fixed rounded(double x);

  double scale_;  // of S²/n
  Fixed total_;
  double factor_;  // N/2, scaled to the fixed point of J
  double log_of_total_;
  double unit_;
};

// Q: the squares of all scores.
double sum_of_squares(const BitPlanes& planes);

// log2 by additions, multiplications and one division, which every machine rounds alike; x > 0.
double exact_log2(double x);

}  // namespace interplay
