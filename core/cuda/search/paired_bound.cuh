// paired counts of a tuple in one cell of the prefix → the bound on the gain of m from it
//
// The counts of a class and of both lie in the halves of a word (search_piece.cuh). Cells with a level 0 follow by
// subtraction of whole words. A half, read as the bits of a float, is a subnormal number, count · 2^-149; one fused
// multiply and add scales it and adds the pseudocounts: counts are then in units of 2^23. The bound is that of
// gain_bound.cuh; only its factors depend on the unit.
//
// About eleven instructions for each cell: two of them take a word apart, and one is a reciprocal.
//
// Where cells have few samples (LOGARITHMS), that bound is loose, and the gain itself is computed: Σ x·log2(x / (n·p))
// over the classes, p the share of the class in the cell of (prefix, l). Two logarithms more for each cell.
#pragma once

#include "information/gain_bound.cuh"
#include "search/patch_products.cuh"

namespace interplay {

constexpr float kFromBits = 0x1p126f, kUnit = 0x1p-23f, kInverseUnit = 0x1p23f;

// By name: CuPy has the compiler take subnormal numbers for 0.
__device__ __forceinline__ float scaled(u32 count, float pseudocount) {
  float result;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(__uint_as_float(count)), "f"(kFromBits), "f"(pseudocount));
  return result;
}

// In units; a part without pseudocounts is not quite empty, so that no reciprocal is infinite.
__device__ __forceinline__ float samples_of_class_0(u32 both, float pseudo_0) { return scaled(both >> 16, pseudo_0); }
__device__ __forceinline__ float samples_of_both(u32 both, float pseudo_of_both) {
  return scaled(both & 0xFFFF, pseudo_of_both);
}

// A cell of (prefix, l): its counts, the share of class 0, and the two factors of the bound.
__device__ __forceinline__ float4 make_paired_row(u32 both, const float (&pseudo)[kClasses]) {
  const float n_0 = fmaf(kColumnLevels, pseudo[0], (float)(both >> 16));
  const float n_1 = fmaf(kColumnLevels, pseudo[kClasses - 1], (float)((both & 0xFFFF) - (both >> 16)));
  const float n = n_0 + n_1, share = n_0 * reciprocal(fmaxf(n, 1e-12f));
  if (kLogarithms) {
    // A class that the row lacks is in none of its parts.
    const float per_0 = n_0 > 0.0f ? n * reciprocal(n_0) : 1.0f, per_1 = n_1 > 0.0f ? n * reciprocal(n_1) : 1.0f;
    return make_float4(__uint_as_float(both), 0.0f, per_0, per_1);
  }
  // One class only: no division adds information.
  const float2 factors = fminf(n_0, n_1) > 0.0f ? divergence_bound(n, share) : make_float2(0.0f, 0.0f);
  return make_float4(__uint_as_float(both), share, factors.x * kInverseUnit, factors.y * kInverseUnit);
}

// The counts of a column at each level but 0.
struct PairedColumn {
  u32 of[kColumnLevels - 1];
};

// The gain itself, likewise. Counts are whole numbers, so that pseudocounts lose no digits.
__device__ __forceinline__ void add_paired_gain(float& bound, const CellCounts& counts,
                                                const float4 (&rows)[kRowLevels], PairedColumn left,
                                                const float (&pseudo)[kClasses]) {
  const float pseudo_0 = pseudo[0] * kUnit, pseudo_1 = pseudo[kClasses - 1] * kUnit;
  float gain = 0;
  const auto add_part = [&](u32 both, const float4& row) {
    const float x_0 = samples_of_class_0(both, pseudo_0), x_1 = scaled((both & 0xFFFF) - (both >> 16), pseudo_1);
    const float inverse = reciprocal(fmaxf(x_0 + x_1, 1e-30f));
    // The logarithm of 0 is infinite, and its product with 0 no number.
    gain = fmaf(x_0, __log2f(fmaxf(x_0 * inverse * row.z, 1e-30f)), gain);
    gain = fmaf(x_1, __log2f(fmaxf(x_1 * inverse * row.w, 1e-30f)), gain);
  };
#pragma unroll
  for (int a = kRowLevels - 1; a >= 0; --a) {
    u32 rest = __float_as_uint(rows[a].x);
#pragma unroll
    for (int b = 0; b < kColumnLevels - 1; ++b) {
      u32 both = left.of[b];
      if (a > 0) {
        both = counts.paired(a, b + 1);
        left.of[b] -= both;
      }
      rest -= both;
      add_part(both, rows[a]);
    }
    add_part(rest, rows[a]);
  }
  bound = fmaf(gain, kInverseUnit, bound);
}

// left: counts of each level of m, summed over the levels of l that are still to come
__device__ __forceinline__ void add_paired_bound(float& bound, const CellCounts& counts,
                                                 const float4 (&rows)[kRowLevels], PairedColumn left,
                                                 const float (&pseudo)[kClasses]) {
  const float pseudo_0 = pseudo[0] * kUnit, pseudo_of_both = fmaxf((pseudo[0] + pseudo[kClasses - 1]) * kUnit, 1e-30f);
  const auto add_part = [&](float excess, float n, const float4& row) {
    const float deviation = excess * reciprocal(n);
    bound = fmaf(excess * deviation, fmaf(row.w, deviation * deviation, row.z), bound);
  };
#pragma unroll
  for (int a = kRowLevels - 1; a >= 0; --a) {
    const float4& row = rows[a];
    u32 rest = __float_as_uint(row.x);
    float excess_of_all = 0;
#pragma unroll
    for (int b = 0; b < kColumnLevels - 1; ++b) {
      u32 both = left.of[b];
      if (a > 0) {
        both = counts.paired(a, b + 1);
        left.of[b] -= both;
      }
      rest -= both;
      const float n = samples_of_both(both, pseudo_of_both);
      const float excess = fmaf(-row.y, n, samples_of_class_0(both, pseudo_0));
      excess_of_all += excess;
      add_part(excess, n, row);
    }
    // Level 0 of m: the rest of the row; its excess is minus that of the other levels.
    add_part(excess_of_all, samples_of_both(rest, pseudo_of_both), row);
  }
}

}  // namespace interplay
