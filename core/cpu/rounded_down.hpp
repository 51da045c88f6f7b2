#pragma once

#include <cmath>

namespace interplay {

// A float that is not above x: the nearest one, and one step of rounding less.
inline float rounded_down(double x) {
  const float nearest = static_cast<float>(x);
  return nearest - std::abs(nearest) * 0x1p-23f;
}

}  // namespace interplay
