#pragma once

#include <cmath>
#include <limits>

namespace interplay {

// A float that is not above x: the nearest one, and one step of rounding less. Infinities stay (a threshold may be
// one).
inline float rounded_down(double x) {
  const float nearest = static_cast<float>(x);
  const float size = std::abs(nearest);
  return size < std::numeric_limits<float>::infinity() ? nearest - size * 0x1p-23f : nearest;
}

// A float that is not above a − b, where both are doubles that were rounded once; it is compared with another such
// difference. Where the two nearly cancel (a tuple of constant columns has no information), the error of the difference
// is in proportion to a and b, not to a − b. Without that error, a tuple with the same gain as the best would be
// dropped now and then, and the named tuple would depend on the order of the search.
inline float difference_rounded_down(double a, double b) {
  constexpr double kRounding = 0x1p-50;
  return rounded_down(a - b - kRounding * (std::abs(a) + std::abs(b)));
}

}  // namespace interplay
