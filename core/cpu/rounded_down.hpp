#pragma once

#include <cmath>
#include <limits>

namespace interplay {

// Largest float that is not above x.
inline float rounded_down(double x) {
  const float nearest = static_cast<float>(x);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return static_cast<double>(nearest) > x ? std::nextafter(nearest, -infinity) : nearest;
}

}  // namespace interplay
