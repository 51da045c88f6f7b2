// counts and sums of scores → bounds of information, of a number outcome
//
// J = −(N/2)·log2(1 − Σ S²/n / (Q + κ)) with the sum over the cells of a tuple (core/include/interplay/
// sum_information.hpp). Σ S²/n is the score itself: only the rounding of floats has to be made up for. All terms are
// positive, so that the relative error of their sum is a few 2⁻²⁴ for each cell at most; logarithms near 1 are off by
// 2⁻²², others by that share of their value.
#pragma once

#include "information/gain_bound.cuh"

namespace interplay {

// S²/n of a cell, 0 of an empty one.
__device__ __forceinline__ float square_of(float n, float sum) { return sum * sum * reciprocal(fmaxf(n, 0x1p-30f)); }

struct SumBound {
  float per_square;  // 1 / (Q + κ)
  float half;        // N / 2
  float error;       // of Σ S²/n, relative
  float slack;       // of J, in bits

  // constants: in this order
  __device__ __forceinline__ explicit SumBound(const float* constants)
      : per_square(constants[0]), half(constants[1]), error(constants[2]), slack(constants[3]) {}

  // No less, and no more, than J.
  __device__ __forceinline__ float upper(float squares) const {
    const float rest = fmaf(-squares * per_square, 1.0f + error, 1.0f - 0x1p-22f);
    return fmaf(-__log2f(fmaxf(rest, 1e-30f)), half * (1.0f + 0x1p-20f), slack);
  }
  __device__ __forceinline__ float lower(float squares) const {
    const float rest = fmaf(-squares * per_square, 1.0f - error, 1.0f + 0x1p-22f);
    return fmaf(-__log2f(fmaxf(rest, 0x1p-23f)), half * (1.0f - 0x1p-20f), -slack);
  }
};

}  // namespace interplay
