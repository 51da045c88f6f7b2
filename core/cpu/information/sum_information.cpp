#include "interplay/sum_information.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace interplay {

Fixed SumInformation::rounded(double x) { return static_cast<Fixed>(std::nearbyint(x)); }

SumInformation::SumInformation(std::span<const std::int32_t> scores, double pseudocount) {
  std::uint64_t squares = 0;
  for (const std::int64_t t : scores) squares += static_cast<std::uint64_t>(t * t);
  const double n = static_cast<double>(scores.size()), q = static_cast<double>(squares);
  // Q + κ below 2⁶²: no cell explains more than its own squares, so no sum of terms exceeds Q by more than rounding.
  const double most = q * (1 + pseudocount / n);
  scale_ = std::ldexp(1.0, 61 - std::ilogb(most));
  total_ = rounded(most * scale_);
  log_of_total_ = exact_log2(static_cast<double>(total_));
  const int fraction_bits = 60 - std::ilogb(n / 2 * 64);  // log2(Q + κ) − log2(rest) is at most 62
  factor_ = n / 2 * std::ldexp(1.0, fraction_bits);
  unit_ = std::ldexp(1.0, -fraction_bits);
}

Fixed SumInformation::information(Fixed squares) const {
  const Fixed rest = std::max<Fixed>(total_ - squares, 1);
  return rounded(factor_ * (log_of_total_ - exact_log2(static_cast<double>(rest))));
}

// x = 2ᵉ·m with m from √½ to √2, and log2(m) = 2/ln 2 · artanh(s), s = (m − 1)/(m + 1): |s| < 0.172, so that the series
// up to s²¹ is exact to a double.
double exact_log2(double x) {
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --e;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 1.0 / 21;
  for (int odd = 19; odd > 0; odd -= 2) series = series * z + 1.0 / odd;
  return static_cast<double>(e) + 0x1.71547652b82fep1 * (s * series);
}

}  // namespace interplay
