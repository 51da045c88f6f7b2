// the products of a tuple with the patterns of its prefix → Σ S²/n over its cells, of a number outcome
//
// A thread meets one column with the rows of a strip. What is the same for all rows stays in registers; the rows' own
// counts are in shared memory. Sums below 2^22 are floats from the start, which hold them exactly.
#pragma once

#include "products/product_cells.cuh"

namespace interplay {

constexpr int kPrefixCells = kPrefixLevels ? power(kPrefixLevels, kPrefix) : 1;
// Loops over all cells are unrolled.
constexpr bool kHoldsSquares =
    kNumbers && kPrefixLevels && kPrefixCells * kRowLevels * kColumnLevels <= 64 && kPrefixCells * kProducts <= 48;

#ifdef SMALL_SUMS
using Value = float;
__device__ __forceinline__ float count_value(int n) { return to_float(n); }
__device__ __forceinline__ float sum_value(int sum) { return sum_to_float(sum); }
__device__ __forceinline__ float float_of_count(float n) { return n; }
__device__ __forceinline__ float float_of_sum(float sum) { return sum; }
#else
using Value = int;
__device__ __forceinline__ int count_value(int n) { return n; }
__device__ __forceinline__ int sum_value(int sum) { return sum; }
__device__ __forceinline__ float float_of_count(int n) { return to_float(n); }
__device__ __forceinline__ float float_of_sum(int sum) { return (float)sum; }
#endif

struct CellValue {
  Value n, sum;

  __device__ __forceinline__ void subtract(const CellValue& other) {
    n -= other.n;
    sum -= other.sum;
  }
};

// What a strip knows of its rows.
struct StripRows {
  CellValue cells[kRowsOfStrip][kHoldsSquares ? kPrefixCells : 1][kRowLevels];
  float best[kRowsOfStrip], information[kRowsOfStrip], rest[kRowsOfStrip];
};

// The products of a tuple with each pattern, which a cell of the prefix numbers: 0 stands for an open member.
struct PatternProducts {
  int words[kPrefixCells][kProducts];

  // From products with open members to those of cells.
  __device__ __forceinline__ void close() {
#pragma unroll
    for (int j = 0; j < kPrefix; ++j) {
      const int step = power(kHeldLevels, kPrefix - 1 - j);
#pragma unroll
      for (int cell = 0; cell < kPrefixCells; ++cell) {
        if (cell / step % kHeldLevels != 0) continue;
#pragma unroll
        for (int other = 1; other < kHeldLevels; ++other)
#pragma unroll
          for (int i = 0; i < kProducts; ++i) words[cell][i] -= words[cell + other * step][i];
      }
    }
  }
};

// A column and a prefix.
class ColumnSquares {
 public:
  // of_column: the products of the column's first level and mask 0; cell_columns: of the prefix's first cell
  __device__ __forceinline__ ColumnSquares(const BatchPrefix& prefix, const u32* of_column, i64 class_stride,
                                           int row_stride, const u32* cell_columns, i64 cell_stride, int n_columns)
      : row_stride_(row_stride), class_stride_(class_stride) {
#pragma unroll
    for (int cell = 0; cell < kPrefixCells; ++cell) {
      int mask = 0, rest = cell;
#pragma unroll
      for (int j = kPrefix - 1; j >= 0; --j) {
        const int level = rest % kHeldLevels;
        rest /= kHeldLevels;
        if (level > 0) mask += prefix.first[j] + (level - 1) * prefix.stride[j];
      }
      of_patterns_[cell] = of_column + (i64)mask * kWordsOfPair * class_stride;
#pragma unroll
      for (int b = 0; b < kColumnLevels - 1; ++b) {
        const u32* counts = cell_columns + cell * cell_stride + (i64)b * kClasses * n_columns;
        columns_[cell][b] = {count_value(counts[0]), sum_value(counts[n_columns])};
      }
    }
  }

  // row: counted from the batch's first
  __device__ __forceinline__ void load(int row, PatternProducts& products) const {
    const i64 of_row = (i64)plane_of(row, 1, kRowLevels) * row_stride_;
#pragma unroll
    for (int cell = 0; cell < kPrefixCells; ++cell) {
      const u32* from = of_patterns_[cell] + of_row;
#pragma unroll
      for (int i = 0; i < kProducts; ++i) {
        const int q = i % kWordsOfPair, pair = i / kWordsOfPair;
        const int b = pair % (kColumnLevels - 1), a = pair / (kColumnLevels - 1);
        products.words[cell][i] = (int)__ldg(from + q * class_stride_ + (a * row_stride_ + b) * kRowsPerFragment);
      }
    }
  }

  __device__ __forceinline__ float squares(
      PatternProducts& products, const CellValue (&rows)[kHoldsSquares ? kPrefixCells : 1][kRowLevels]) const {
    products.close();
    float sum = 0;
    const auto add = [&](const CellValue& cell) {
      const float s = float_of_sum(cell.sum);
      sum = fmaf(s * s, reciprocal(float_of_count(cell.n) + 0x1p-30f), sum);
    };
#pragma unroll
    for (int cell = 0; cell < (kHoldsSquares ? kPrefixCells : 0); ++cell) {
      CellValue left[kColumnLevels - 1];
#pragma unroll
      for (int b = 0; b < kColumnLevels - 1; ++b) left[b] = columns_[cell][b];
#pragma unroll
      for (int a = kRowLevels - 1; a >= 0; --a) {
        CellValue rest = rows[cell][a];
#pragma unroll
        for (int b = kColumnLevels - 1; b > 0; --b) {
          CellValue found = left[b - 1];
          if (a > 0) {
            const int* of_row_level = products.words[cell] + (a - 1) * kRowProducts;
            found = {count_value(CellOfPrefix::count_in(of_row_level, b, 0)),
                     sum_value(CellOfPrefix::count_in(of_row_level, b, 1))};
            left[b - 1].subtract(found);
          }
          rest.subtract(found);
          add(found);
        }
        add(rest);
      }
    }
    return sum;
  }

 private:
  const u32* of_patterns_[kPrefixCells];
  CellValue columns_[kPrefixCells][kColumnLevels - 1];
  int row_stride_;
  i64 class_stride_;
};

}  // namespace interplay
