// paired counts of two tuples in one cell of the prefix → the bounds on the gains of their m, in pairs of half floats
//
// The tuples share the prefix and l, and with them share and factors; their columns stand side by side. The bound is
// that of paired_bound.cuh, with two tuples to an instruction: six to seven instructions for each cell. A count of up
// to 2047, read as the bits of a half float, is the count · 2^-24, whether subnormal or not.
//
// Half floats round by up to u = 2^-11, so the bound is corrected for rounding afterwards. With p the share and δ = q −
// p, the δ that is computed is off by at most e + 2·u·|δ|: e is the rounding of p, and 2·u·p more where counts are not
// exact in half floats. By Minkowski's inequality the square root of the bound is then off by the square root of E = Σ
// R·A·e², over the cells R of (prefix, l). The error of fourth powers adds little; their factor is 7 % larger to cover
// it. All other errors are relative: of n and its reciprocal 0.4 %, of four products and of the sum of up to nine parts
// 0.7 %.
// Limits: 2047 samples in all, and pseudocounts of at least 0.5 in a cell, of which the reciprocal starts.
#pragma once

#include "information/gain_bound.cuh"
#include "search/paired_bound.cuh"

namespace interplay {

// The sum of two such rows of parts or so is kept in half floats: no more than nine parts.
constexpr int kRowsOfSum = kColumnLevels < 9 ? 9 / kColumnLevels : 1;
constexpr float kHalfInflation = 1.012f;

__device__ __forceinline__ u32 two_halves(float x) {
  u32 result;
  asm("{.reg .f16 h; cvt.rn.f16.f32 h, %1; mov.b32 %0, {h, h};}" : "=r"(result) : "f"(x));
  return result;
}
__device__ __forceinline__ u32 half_product(u32 a, u32 b) {
  u32 result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
__device__ __forceinline__ u32 half_fma(u32 a, u32 b, u32 c) {
  u32 result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
__device__ __forceinline__ float2 to_floats(u32 halves) {
  float2 result;
  asm("{.reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
      : "=f"(result.x), "=f"(result.y)
      : "r"(halves));
  return result;
}

// Units: class 0 and its excess in 2^9 samples; both classes in 2^13. So deviations are 2^4 times as large, and small
// ones keep their digits; the bound is in 2^5 bits.
constexpr float kUnitOf0 = 0x1p-9f, kUnitOfBoth = 0x1p-13f, kDeviationUnit = 16.0f, kUnitOfBound = 32.0f;
constexpr u32 kToUnitOf0 = 0x78007800u /* 2^15 */, kToUnitOfBoth = 0x68006800u /* 2^11 */, kHalfOnes = 0x3C003C00u;
// Less the bits of a half float, this is about those of minus its reciprocal.
constexpr u32 kMinusReciprocal = 0xF79AF79Au;

// A cell of (prefix, l): its counts, minus its share of class 0, and two factors; error: the share of this cell in E is
// added to it
__device__ __forceinline__ float4 make_half_row(u32 both, const float (&pseudo)[kClasses], float& error) {
  const float4 row = make_paired_row(both, pseudo);
  const float n = fmaf(kColumnLevels, pseudo[0] + pseudo[kClasses - 1], (float)(both & 0xFFFF));
  const float first = row.z * kUnit, second = row.w * kUnit;
  // Quarters below 512, and halves below 1024, are half floats.
  const float n_0 = fmaf(kColumnLevels, pseudo[0], (float)(both >> 16));
  const float fours = 4.0f * pseudo[0], twos = 2.0f * (pseudo[0] + pseudo[kClasses - 1]);
  const bool is_exact = n_0 < 512.0f && n < 1024.0f && fours == rintf(fours) && twos == rintf(twos);
  const u32 minus_share = two_halves(-kDeviationUnit * row.y);
  const float off_share = fabsf(fmaf(to_floats(minus_share).x, 1.0f / kDeviationUnit, row.y));
  const float off = off_share + (is_exact ? 0x1p-22f : 2.0f * 0x1.02p-11f) * row.y, squared = off * off;
  // Fourth powers of sums, with τ = 0.02: (x + y)⁴ ≤ (1 + τ)³·x⁴ + (1 + 1/τ)³·y⁴. Last, the error of numbers that are
  // too small for half floats.
  error += n * squared * fmaf(second * squared, 1.33e5f, first) + first * (kColumnLevels * 0x1p-20f);
  return make_float4(row.x, __uint_as_float(minus_share), __uint_as_float(two_halves(first * 1.0006f)),
                     __uint_as_float(two_halves(second * (1.07f / (kDeviationUnit * kDeviationUnit)))));
}

// Adds to the bounds of two tuples, those of the columns 2t and 2t + 1.
__device__ __forceinline__ void add_half_bounds(float& bound_0, float& bound_1, const CellCounts& counts_0,
                                                const CellCounts& counts_1, const float4 (&rows)[kRowLevels],
                                                PairedColumn left_0, PairedColumn left_1, u32 pseudo_0,
                                                u32 pseudo_of_both) {
  u32 minus_bound = 0;
#pragma unroll
  for (int a = kRowLevels - 1; a >= 0; --a) {
    const u32 minus_share = __float_as_uint(rows[a].y), first = __float_as_uint(rows[a].z),
              second = __float_as_uint(rows[a].w);
    u32 rest_0 = __float_as_uint(rows[a].x), rest_1 = rest_0;
#pragma unroll
    for (int b = 0; b < kColumnLevels; ++b) {  // level 0 of m comes last: the rest of the row
      u32 both_0 = rest_0, both_1 = rest_1;
      if (b + 1 < kColumnLevels) {
        both_0 = left_0.of[b], both_1 = left_1.of[b];
        if (a > 0) {
          both_0 = counts_0.paired(a, b + 1), both_1 = counts_1.paired(a, b + 1);
          left_0.of[b] -= both_0, left_1.of[b] -= both_1;
        }
        rest_0 -= both_0, rest_1 -= both_1;
      }
      const u32 n = half_fma(__byte_perm(both_0, both_1, 0x5410), kToUnitOfBoth, pseudo_of_both);
      const u32 of_0 = half_fma(__byte_perm(both_0, both_1, 0x7632), kToUnitOf0, pseudo_0);
      const u32 excess = half_fma(minus_share, n, of_0);
      // A step of Newton's method: never more than the reciprocal but for rounding.
      const u32 about = kMinusReciprocal - n, minus_inverse = half_fma(about, half_fma(n, about, kHalfOnes), about);
      const u32 minus_deviation = half_product(excess, minus_inverse);
      const u32 factor = half_fma(second, half_product(minus_deviation, minus_deviation), first);
      minus_bound = half_fma(half_product(excess, minus_deviation), factor, minus_bound);
    }
    if (a % kRowsOfSum == 0) {
      const float2 both = to_floats(minus_bound);
      bound_0 = fmaf(-kUnitOfBound, both.x, bound_0);
      bound_1 = fmaf(-kUnitOfBound, both.y, bound_1);
      minus_bound = 0;
    }
  }
}

// Whether a computed bound may reach a threshold; root_of_error: √E
__device__ __forceinline__ bool may_reach(float computed, float needed, float root_of_error) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaxf(needed, 0.0f)));
  const float less = root * 0.99999f - root_of_error;
  return !(less > 0.0f && computed * kHalfInflation < less * less);
}

}  // namespace interplay
