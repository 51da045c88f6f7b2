// products of a patch → the bound on each tuple's gain from one cell of the prefix
#pragma once

#include "search/half_bound.cuh"
#include "search/paired_bound.cuh"
#include "search/patch_products.cuh"
#include "search/prefix_counts.cuh"

namespace interplay {

// The factors of the bound for each cell and row of a warp's strip, computed once and read by all its patches. With two
// classes, numbers lie so that eight rows are read without a conflict: four numbers of each row and level together, and
// the fifth after all of these.
struct StripRows {
  float* numbers;  // [n_cells][kWarpRows][kRowFloats]
  int n_cells;
  float* root_of_error;  // [kWarpRows]

  __device__ __forceinline__ float4& four(int cell, int row, int level) const {
    return reinterpret_cast<float4*>(numbers)[(cell * kRowLevels + level) * kWarpRows + row];
  }
  __device__ __forceinline__ float& fifth(int cell, int row, int level) const {
    return numbers[n_cells * kRowLevels * kWarpRows * 4 + (cell * kWarpRows + row) * kRowLevels + level];
  }
  // With a table, the samples alone.
  __device__ __forceinline__ u32& both(int cell, int row, int level) const {
    return reinterpret_cast<u32*>(numbers)[(cell * kRowLevels + level) * kWarpRows + row];
  }
  // With more classes: the samples of each, and their information.
  __device__ __forceinline__ float* of_classes(int cell, int row, int level) const {
    return numbers + (cell * kWarpRows + row) * kRowFloats + level * kLevelFloats;
  }
};

// A cell of (prefix, l), to be divided by m.
struct DividedCell {
  float n, share;              // samples, and which part of them is of class 0
  float first, second, third;  // of the bound, see below
};

// Divided into two, both parts have the same |x|; with q = 1/(u·v), 1/u + 1/v = n·q and 1/u³ + 1/v³ = n·q²·(n²·q − 3).
// So the bound is, with y = x²·q, y·(A′n + y·(C′n³·q − 3C′n)).
__device__ __forceinline__ DividedCell make_divided_cell(float n, float n_0, float n_1) {
  DividedCell cell = {n, n_0 * reciprocal(fmaxf(n_0 + n_1, 1e-12f)), 0.0f, 0.0f, 0.0f};
  if (fminf(n_0, n_1) <= 0.0f) return cell;  // one class only: no division adds information
  const float all = n_0 + n_1;
  const float2 factors = divergence_bound(all, cell.share);
  if (kColumnLevels == 2) {
    cell.first = factors.x * all;
    cell.third = -3.0f * factors.y * all;
    cell.second = factors.y * all * all * all;
    // Where a class has next to no samples among millions: any deviation lets the tuple survive.
    if (cell.second > kLargest) cell.first = kNever, cell.second = cell.third = 0.0f;
  } else {
    cell.first = factors.x;
    cell.second = factors.y;
  }
  return cell;
}

// first: row of the piece
__device__ __forceinline__ void make_rows(const Data& data, const Piece& piece, const Shared& shared,
                                          const StripRows& rows, int first) {
  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = data.pseudocounts[q];
  float error = 0;  // of one row: threads with the same are 16 apart, or the same
  static_assert(!kHalf || kWarpRows == 16 || kWarpRows == 32, "");
  for (int i = threadIdx.x % 32; i < piece.cells() * kWarpRows; i += 32) {
    const int cell = i / kWarpRows, row = i % kWarpRows;
    const int margin = piece.row_margin + min(first + row, kBlockRows - 1);
#pragma unroll
    for (int level = 0; level < kRowLevels; ++level) {
      float counts[kClasses], n = 0;
      level_counts<kRowLevels>(shared, cell, margin, piece.row_margin_step, level, counts);
      if (kPaired) {
        const u32 both = paired_level_counts<kRowLevels>(shared, cell, margin, piece.row_margin_step, level);
        rows.four(cell, row, level) = kHalf ? make_half_row(both, pseudo, error) : make_paired_row(both, pseudo);
        continue;
      }
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        n += counts[q];
        if (kClasses != 2) rows.of_classes(cell, row, level)[q] = counts[q];
      }
      add_pseudocounts_last(counts, pseudo, kColumnLevels);
      if (kClasses == 2) {
        const DividedCell divided = make_divided_cell(n, counts[0], counts[kClasses - 1]);
        rows.four(cell, row, level) = make_float4(divided.n, divided.share, divided.first, divided.second);
        rows.fifth(cell, row, level) = divided.third;
      } else {
        float information = 0, all = 0;
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          information += x_log_x(counts[q]);
          all += counts[q];
        }
        rows.of_classes(cell, row, level)[kClasses] = information - x_log_x(all);
      }
    }
  }
  if (kHalf) {
    if (kWarpRows == 16) error += __shfl_xor_sync(~0u, error, 16);
    rows.root_of_error[threadIdx.x % kWarpRows] = sqrtf(error) * 1.0001f;
  }
}

// Parts are never empty where there are pseudocounts; without them, care is taken.
__device__ __forceinline__ float not_zero(float size) { return kPseudocountsLast ? fmaxf(size, 1e-24f) : size; }

// The margins of a column in a cell, of each level but 0.
struct ColumnCounts {
  float of_0[kColumnLevels - 1], of_all[kColumnLevels - 1];
};

// Adds to a tuple's bound that on the gain of m from one cell of the prefix, for two classes.
__device__ __forceinline__ void add_bound(float& bound, const CellCounts& counts,
                                          const DividedCell (&cells)[kRowLevels], ColumnCounts left,
                                          const float (&pseudo)[kClasses]) {
  const float pseudo_0 = pseudo[0], pseudo_of_all = pseudo[0] + pseudo[kClasses - 1];
#pragma unroll
  for (int a = kRowLevels - 1; a >= 0; --a) {
    const DividedCell& cell = cells[a];
    float rest = cell.n, excess = 0;
#pragma unroll
    for (int b = 0; b < kColumnLevels - 1; ++b) {
      // Counts of each level of m at level 0 of l: the margin of m, less the other levels of l.
      float n_0 = left.of_0[b], n = left.of_all[b];
      if (a > 0) {
        n_0 = counts(0, a, b + 1);
        n = counts(1, a, b + 1);
        if (!kPseudocountsLast) n_0 += pseudo_0, n += pseudo_of_all;
        left.of_0[b] -= n_0;
        left.of_all[b] -= n;
      }
      rest -= n;
      if (kPseudocountsLast) n_0 += pseudo_0, n += pseudo_of_all;
      const float x = fmaf(-cell.share, n, n_0);
      if (kColumnLevels == 2) {
        if (kPseudocountsLast) rest += pseudo_of_all;
        const float q = reciprocal(not_zero(n * rest)), y = x * (x * q);
        // Without pseudocounts q may be so large that only its product with y is of use.
        const float factor = kPseudocountsLast ? fmaf(cell.second, y * q, fmaf(cell.third, y, cell.first))
                                               : fmaf(fmaf(cell.second, q, cell.third), y, cell.first);
        bound = fmaf(y, factor, bound);
      } else {
        const float deviation = x * reciprocal(not_zero(n));
        excess += x;
        bound = fmaf(x * deviation, fmaf(cell.second, deviation * deviation, cell.first), bound);
      }
    }
    if (kColumnLevels > 2) {
      if (kPseudocountsLast) rest += pseudo_of_all;
      const float deviation = excess * reciprocal(not_zero(rest));
      bound = fmaf(excess * deviation, fmaf(cell.second, deviation * deviation, cell.first), bound);
    }
  }
}

// The same for other numbers of classes, by logarithms.
// row: of StripRows; column: margins of the cell and the column's level 1
__device__ __forceinline__ float gain_of_cell(const CellCounts& counts, const float* row, const float* column,
                                              const float (&pseudo)[kClasses]) {
  float left[kColumnLevels - 1][kClasses];
#pragma unroll
  for (int b = 0; b < kColumnLevels - 1; ++b) {
    const float* margin = column + b * kBlockColumns * kClasses;
    float others = 0;
#pragma unroll
    for (int q = 0; q + 1 < kClasses; ++q) {
      left[b][q] = margin[q];
      others += margin[q];
    }
    left[b][kClasses - 1] = margin[kClasses - 1] - others;
  }
  float gain = 0;
#pragma unroll
  for (int a = kRowLevels - 1; a >= 0; --a) {
    const float* part = row + a * kLevelFloats;
    gain -= part[kClasses];
    float rest[kClasses];
#pragma unroll
    for (int q = 0; q < kClasses; ++q) rest[q] = part[q];
#pragma unroll
    for (int b = 0; b < kColumnLevels; ++b) {  // level 0 of m comes last: the rest of the row
      float n = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        float count;
        if (b + 1 == kColumnLevels) {
          count = rest[q];
        } else if (a > 0) {
          count = counts(q, a, b + 1);
          if (!kPseudocountsLast) count += pseudo[q];
          left[b][q] -= count;
        } else {
          count = left[b][q];
        }
        rest[q] -= count;
        if (kPseudocountsLast) count += pseudo[q];
        gain += x_log_x(count);
        n += count;
      }
      gain -= x_log_x(n);
    }
  }
  return gain;
}

// The paired counts of a thread's columns in a patch, two of each eight. margins: of the first of them
using PairedColumns = PairedColumn[2 * kColumnFragments][2];

__device__ __forceinline__ void load(PairedColumns& columns, const float* margins) {
#pragma unroll
  for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
    for (int b = 0; b < kColumnLevels - 1; ++b) {
      const uint2 two = *reinterpret_cast<const uint2*>(margins + j * 8 + b * kBlockColumns);
      columns[j][0].of[b] = two.x, columns[j][1].of[b] = two.y;
    }
}

// The bounds of the tuples of a patch: floats, or units of small_cells.cuh.
template <typename Number>
using Bounds = Number[kRowFragments][2 * kColumnFragments][4];

// Adds the bounds of a patch's tuples in one cell of the prefix. c: which of the cells that were counted together
__device__ __forceinline__ void add_bounds(Bounds<float>& bound, const PatchProducts& products, int c, int cell,
                                           const Shared& shared, const StripRows& rows, int first_column,
                                           const float (&pseudo)[kClasses]) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const float* margins = shared.margins + (cell * kPlanes + first_column + 2 * t) * kMarginWords;
  ColumnCounts columns[2 * kColumnFragments][2];
  PairedColumns paired_columns;
  if (kPaired) {
    load(paired_columns, margins);
  } else if (kClasses == 2) {
#pragma unroll
    for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
      for (int b = 0; b < kColumnLevels - 1; ++b) {
        const float4 both = *reinterpret_cast<const float4*>(margins + (j * 8 + b * kBlockColumns) * kClasses);
        columns[j][0].of_0[b] = both.x, columns[j][0].of_all[b] = both.y;
        columns[j][1].of_0[b] = both.z, columns[j][1].of_all[b] = both.w;
      }
  }
#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = i * 16 + half * 8 + g;
      DividedCell cells[kRowLevels];
      float4 paired_rows[kRowLevels];
      if (kPaired) {
#pragma unroll
        for (int level = 0; level < kRowLevels; ++level) paired_rows[level] = rows.four(cell, row, level);
      } else if (kClasses == 2) {
#pragma unroll
        for (int level = 0; level < kRowLevels; ++level) {
          const float4 four = rows.four(cell, row, level);
          cells[level] = {four.x, four.y, four.z, four.w, rows.fifth(cell, row, level)};
        }
      }
      if (kHalf) {
        const u32 pseudo_0 = two_halves(pseudo[0] * kUnitOf0);
        const u32 pseudo_of_both = two_halves((pseudo[0] + pseudo[kClasses - 1]) * kUnitOfBoth);
#pragma unroll
        for (int j = 0; j < 2 * kColumnFragments; ++j) {
          float (&of_pair)[4] = bound[i][j];
          add_half_bounds(of_pair[half * 2], of_pair[half * 2 + 1], products.of_tuple(c, i, j, half * 2),
                          products.of_tuple(c, i, j, half * 2 + 1), paired_rows, paired_columns[j][0],
                          paired_columns[j][1], pseudo_0, pseudo_of_both);
        }
        continue;
      }
#pragma unroll
      for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
        for (int side = 0; side < 2; ++side) {
          const CellCounts counts = products.of_tuple(c, i, j, half * 2 + side);
          if (kLogarithms) {
            add_paired_gain(bound[i][j][half * 2 + side], counts, paired_rows, paired_columns[j][side], pseudo);
          } else if (kPaired) {
            add_paired_bound(bound[i][j][half * 2 + side], counts, paired_rows, paired_columns[j][side], pseudo);
          } else if (kClasses == 2) {
            add_bound(bound[i][j][half * 2 + side], counts, cells, columns[j][side], pseudo);
          } else {
            bound[i][j][half * 2 + side] +=
                gain_of_cell(counts, rows.of_classes(cell, row, 0), margins + (j * 8 + side) * kClasses, pseudo);
          }
        }
    }
}

}  // namespace interplay
