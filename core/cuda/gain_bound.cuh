// counts of a cell → an upper bound on what its division tells about the decision
//
// A cell with n samples, a share p of them in class 0, is divided into parts u with shares q_u. The parts tell
// Σ u·KL(q_u ‖ p) bits. With δ = q − p and r = min(p, 1 − p), KL(q ‖ p) ≤ δ²·(A + B·|δ|): A = 1 / (2 ln 2 · p(1 − p))
// is the curvature at δ = 0, and B makes it an equality at the nearer end of [0, 1], where |δ| = r. With x_u = n_u0 −
// p·u, what class 0 has in excess, that is Σ x_u²/u · (A + B·|x_u|/u): no logarithm per part. Pseudocounts are part of
// all counts here. With more than two classes, logarithms are taken.
#pragma once

#include "tuple_counts.cuh"

namespace interplay {

constexpr float kInverseLn2 = 1.44269504f;

__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// A and B for a share p.
__device__ __forceinline__ float2 divergence_bound(float p) {
  const float nearer = fmaxf(fminf(p, 1.0f - p), 1e-6f), inverse = reciprocal(nearer);
  // −ln(1 − p) / p, as a series where the logarithm would lose digits.
  const float series = 1.0f + nearer * (1.0f / 2 + nearer * (1.0f / 3 + nearer * (1.0f / 4 + nearer * (1.0f / 5))));
  const float at_end = nearer < 0.05f ? series * kInverseLn2 * inverse : -__log2f(1.0f - nearer) * inverse * inverse;
  const float at_middle = 0.5f * kInverseLn2 * inverse * reciprocal(1.0f - nearer);
  return make_float2(at_middle, fmaxf(at_end - at_middle, 0.0f) * inverse);
}

// x·log2(x), with 0 for an empty cell.
__device__ __forceinline__ float x_log_x(float x) { return x > 0.0f ? x * __log2f(x) : 0.0f; }

}  // namespace interplay
