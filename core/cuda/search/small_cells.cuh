// paired counts of a tuple in one cell of the prefix → the information of the tuple's cells, by a table
//
// A cell with x_0 and x_1 samples, pseudocounts included, n in all, has the information x_0·log2(x_0 / (n·q_0)) +
// x_1·log2(x_1 / (n·q_1)) in bits, with q the shares of the classes among all samples. The sum over all cells is
// F(tuple), but for a constant, H(q)·N, which is left out of all F here (prefix_counts.cuh).
//
// A table in shared memory has the information of cells with small counts, as whole numbers of 16 bits in a unit of the
// host's choice, rounded up. A cell takes minimum, address and load, and half a sum, beside the subtractions. Counts
// are doubled, since entries have two bytes. Where no row of a strip has more samples in the cell than the table has
// room for, the minimum is left out (kAllThere). Counts that exceed the table find kTooLarge at its edges. Then the
// cell that is largest in most tuples, level 0 of both variables, is computed by logarithms; where that is not enough,
// all cells are.
//
// Bottleneck: loads from shared memory, of which two to three in a warp meet in a bank.
#pragma once

#include "search/paired_bound.cuh"
#include "search/patch_products.cuh"

namespace interplay {

constexpr u32 kTooLarge = 0xFFFF;

struct CellTable {
  const unsigned char* values;  // [counts of class 0][counts of class 1] of 16 bits, in shared memory
  u32 last;                     // the largest counts of the table, paired
  u32 strides;                  // 1 for class 1, and for class 0 the number of counts of class 1; in bytes
  float pseudo_0, pseudo_1;     // of a cell
  float2 inverse_shares;        // 1 / q
  float per_bit, unit;          // units in a bit; bits in a unit

  // Before the edges.
  __device__ __forceinline__ bool has(u32 both) const {
    return __vminu2(both, last - kOneOfClass0 - kOneOfClass1) == both;
  }
  __device__ __forceinline__ u32 at(u32 both) const {
    return *reinterpret_cast<const unsigned short*>(values + __dp2a_lo(both, strides, 0u));
  }
  __device__ __forceinline__ u32 nearest(u32 both) const { return at(__vminu2(both, last)); }

  __device__ __forceinline__ u32 by_logarithms(u32 both) const {
    // The bits of the float 2^23 + twice the count.
    const float x_0 = fmaf(__uint_as_float(__byte_perm(both, kMagicBits, 0x7632)) - kMagic, 0.5f, pseudo_0);
    const float x_1 = fmaf(__uint_as_float(__byte_perm(both, kMagicBits, 0x7610)) - kMagic, 0.5f, pseudo_1);
    return __float2uint_ru(information_of_counts(x_0, x_1, inverse_shares) * per_bit);
  }
};

// Copies the table, by all threads of a block, which have yet to wait for each other.
__device__ __forceinline__ CellTable make_cell_table(const Data& data, const Shared& shared,
                                                     const unsigned short* values, int n_rows, int stride,
                                                     float per_bit) {
  if (!kTable) return CellTable();
  for (int i = threadIdx.x; i < n_rows * stride; i += kThreads) shared.table[i] = values[i];
  return {reinterpret_cast<const unsigned char*>(shared.table),
          (u32)(n_rows - 1) * kOneOfClass0 + (u32)(stride - 1) * kOneOfClass1,
          (u32)stride << 8 | 1u,
          data.pseudocounts[0],
          data.pseudocounts[kClasses - 1],
          data.inverse_shares,
          per_bit,
          1.0f / per_bit};
}

// How the cells of a tuple within a cell of the prefix are looked up: all in the table, known to be there or not; all
// but the largest; or none.
enum Way { kAllThere, kByTable, kAllButLargest, kByLogarithms };

// totals: counts of (cell, level of l); left: counts of each level of m, summed over the levels of l that are still to
// come
template <int kWay>
__device__ __forceinline__ u32 information_by_table(const CellTable& table, const CellCounts& counts,
                                                    const u32 (&totals)[kRowLevels], PairedColumn left) {
  u32 sum = 0;
#pragma unroll
  for (int a = kRowLevels - 1; a >= 0; --a) {
    u32 rest = totals[a];
#pragma unroll
    for (int b = 0; b < kColumnLevels; ++b) {  // level 0 of m comes last: the rest of the row
      u32 both = rest;
      if (b + 1 < kColumnLevels) {
        both = left.of[b];
        if (a > 0) {
          both = counts.paired(a, b + 1);
          left.of[b] -= both;
        }
        rest -= both;
      }
      const bool is_largest = a == 0 && b + 1 == kColumnLevels;
      if (kWay == kAllThere) {
        sum += table.at(both);
      } else if (kWay == kByLogarithms || (kWay == kAllButLargest && is_largest)) {
        sum += table.by_logarithms(both);
      } else {
        sum += table.nearest(both);
      }
    }
  }
  return sum;
}

}  // namespace interplay
