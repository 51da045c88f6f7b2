// counts and sums of scores → information, of a number outcome, in the bits of the processor
//
// As core/include/interplay/sum_information.hpp: the same operations in the same order, none of them fused.
#pragma once

#include "planes/tuple_counts.cuh"

namespace interplay {

__device__ __forceinline__ double exact_log2(double x) {
  // x is 1 or more: no denormal number
  u64 bits = (u64)__double_as_longlong(x);
  int e = (int)(bits >> 52) - 1022;
  double m = __longlong_as_double((i64)((bits & 0xFFFFFFFFFFFFFull) | 1022ull << 52));
  if (m < 0x1.6a09e667f3bcdp-1) {
    m = __dmul_rn(m, 2.0);
    --e;
  }
  const double s = __ddiv_rn(__dadd_rn(m, -1.0), __dadd_rn(m, 1.0)), z = __dmul_rn(s, s);
  double series = 1.0 / 21;
#pragma unroll
  for (int odd = 19; odd > 0; odd -= 2) series = __dadd_rn(__dmul_rn(series, z), 1.0 / odd);
  return __dadd_rn((double)e, __dmul_rn(0x1.71547652b82fep1, __dmul_rn(s, series)));
}

// As `_core.sum_model` has the constants.
struct SumModel {
  double scale, factor, log_of_total;
  i64 total;

  // values: scale, factor and log_of_total as their bits, and total
  __device__ __forceinline__ explicit SumModel(const i64* values)
      : scale(__longlong_as_double(values[0])),
        factor(__longlong_as_double(values[1])),
        log_of_total(__longlong_as_double(values[2])),
        total(values[3]) {}

  // S²/n, in fixed point.
  __device__ __forceinline__ i64 square(u32 n, u32 sum) const {
    if (n == 0) return 0;
    const double s = (double)(int)sum;
    return __double2ll_rn(__dmul_rn(__ddiv_rn(__dmul_rn(s, s), (double)n), scale));
  }
  // J, in fixed point, of a table with this Σ S²/n.
  __device__ __forceinline__ i64 information(i64 squares) const {
    const i64 rest = total - squares;
    return __double2ll_rn(__dmul_rn(factor, __dadd_rn(log_of_total, -exact_log2((double)(rest > 1 ? rest : 1)))));
  }
};

}  // namespace interplay
