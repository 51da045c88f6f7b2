// The integer scores of a number outcome as digits: t = lowest + Σ weight · digit over the orders of the samples.
//
// In each order samples are sorted by one digit, so that samples of the same digit are a run, and the sum of digits
// over some samples follows from counts of runs. With one order the digit is the score itself, above the lowest.
#pragma once

#include <algorithm>

#include "interplay/types.hpp"

namespace interplay {

class ScoreDigits {
 public:
  // planes: of a number outcome
  explicit ScoreDigits(const BitPlanes& planes)
      : n_orders_(planes.n_classes()),
        radix_(planes.radix),
        lowest_(*std::min_element(planes.scores.begin(), planes.scores.begin() + planes.class_sizes[0])) {}

  Index lowest() const { return lowest_; }
  // The first order has the highest digit, the second the lowest, the third the next higher one, and so on.
  Index weight(Index order) const {
    Index weight = 1;
    for (Index i = 1; i < (order == 0 ? n_orders_ : order); ++i) weight *= radix_;
    return weight;
  }
  Index of(Index order, Index score) const {
    const Index shifted = (score - lowest_) / weight(order);
    return order == 0 ? shifted : shifted % radix_;
  }

 private:
  Index n_orders_, radix_, lowest_;
};

}  // namespace interplay
