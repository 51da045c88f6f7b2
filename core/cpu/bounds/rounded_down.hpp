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

}  // namespace interplay
