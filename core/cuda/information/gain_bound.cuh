// counts of a cell → an upper bound of the information that its division adds
//
// A cell with n samples, a share p of them in class 0, is divided into parts u with shares q_u. The division adds Σ
// u·KL(q_u ‖ p) bits of information. With δ = q − p, KL = δ²·g(δ), and
//     g(δ) ln 2 = ∫ (1 − w) f(p + wδ) dw over w from 0 to 1,  f(z) = 1 / (z(1 − z)).
// f has even derivatives that are positive, convex and largest at the ends of [0, 1]. So (g(δ) − g(0) − g′(0)·δ) / δ²
// is largest where q reaches the nearer end of [0, 1], δ² = r² with r = min(p, 1 − p): call that C. And |δ| ≤ σ/2 +
// δ²/(2σ) for any σ; then
//     KL ≤ δ²·(A′ + C′·δ²),  A′ = g(0) + |g′(0)|·σ/2,  C′ = C + |g′(0)|/(2σ),
// with σ about the |δ| that occurs by chance. The bound exceeds KL by 1 to 3 % where cells have more than some tens of
// samples. With x_u = n_u0 − p·u, the excess of class 0, it is Σ x_u²/u · (A′ + C′·(x_u/u)²): no logarithm per part.
// Pseudocounts are part of all counts here. With more than two classes, logarithms are taken.
#pragma once

#include "planes/tuple_counts.cuh"

namespace interplay {

constexpr float kInverseLn2 = 1.44269504f;

__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// A′ and C′ for a cell with n samples and a share p, neither 0 nor 1, in class 0.
__device__ __forceinline__ float2 divergence_bound(float n, float p) {
  const float r = fmaxf(fminf(p, 1.0f - p), 1e-8f), inverse = reciprocal(r), other = reciprocal(1.0f - r);
  const float at_0 = 0.5f * kInverseLn2 * inverse * other;
  const float slope = (1.0f - 2.0f * r) * (1.0f / 3.0f) * at_0 * inverse * other;
  // −ln(1 − r) / r, as a series where the logarithm would lose digits.
  const float series = 1.0f + r * (1.0f / 2 + r * (1.0f / 3 + r * (1.0f / 4 + r * (1.0f / 5))));
  const float at_end = r < 0.05f ? series * kInverseLn2 * inverse : -__log2f(1.0f - r) * inverse * inverse;
  const float curvature = fmaxf(at_end - at_0 - slope * r, 0.0f) * inverse * inverse;
  const float by_chance = fminf(rsqrtf(fmaxf(n, 1e-12f)), r);
  return make_float2(fmaf(slope, 0.5f * by_chance, at_0), fmaf(slope, 0.5f * reciprocal(by_chance), curvature));
}

// The information of a cell with x_0 and x_1 samples of two classes: Σ x·log2(x / (n·q)), with q the classes' shares of
// all samples, and n = x_0 + x_1. Logarithms of ratios are small, where logarithms of x are not: sums over many cells
// lose little.
__device__ __forceinline__ float information_of_counts(float x_0, float x_1, float2 inverse_shares) {
  const float inverse = reciprocal(fmaxf(x_0 + x_1, 1e-30f));
  // The logarithm of 0 is infinite, and its product with 0 no number.
  const float log_0 = __log2f(fmaxf(x_0 * inverse * inverse_shares.x, 1e-30f));
  const float log_1 = __log2f(fmaxf(x_1 * inverse * inverse_shares.y, 1e-30f));
  return fmaf(x_0, log_0, x_1 * log_1);
}

// x·log2(x), with 0 for an empty cell.
__device__ __forceinline__ float x_log_x(float x) { return x > 0.0f ? x * __log2f(x) : 0.0f; }

}  // namespace interplay
