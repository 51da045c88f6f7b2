// a prefix of a batch, and the counts of its masks → cells: of the prefix, of a variable with it, of a tuple
//
// Shared by the kernels of product_bound.cu, with the constants that these are compiled with.
#pragma once

#include "information/sum_bound.cuh"
#include "products/product_batch.cuh"
#include "tuples/every_member.cuh"

namespace interplay {

constexpr int kDimensions = DIMENSIONS, kPrefix = DIMENSIONS - 2, kPrefixRoom = kPrefix > 0 ? kPrefix : 1;
constexpr int kRowLevels = ROW_LEVELS, kColumnLevels = COLUMN_LEVELS, kClasses = CLASSES;
constexpr int kPrefixLevels = PREFIX_LEVELS;
constexpr float kNever = 1e30f;
// Two classes are bounded without logarithms (gain_bound.cuh), unless cells have few samples.
#ifdef LOGARITHMS
constexpr bool kLogarithms = true;
#else
constexpr bool kLogarithms = kClasses != 2;
#endif
// Of each cell of (prefix, l). With logarithms: X / X_q; else the share of class 0, and the two factors of the bound.
constexpr int kRowFactors = kLogarithms ? kClasses : 3;  // unused with NUMBERS
constexpr int kOpen = -1;
// The relative error of the bound at most: reciprocals, and the deviation of class 0, whose error is at most a few 2⁻²⁴
// of the cell; derived as in wide_kernels-inl.hpp.
constexpr float kInflation = kLogarithms ? 1.0001f : 1.004f;
// Rows that a block of threads takes with its columns, one of these to a thread.
constexpr int kRowsOfStrip = kNumbers ? 16 : 8, kThreads = 128;

__host__ __device__ constexpr int power(int base, int exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}
// Products of all patterns that share the level of the prefix's first member are held in registers where these suffice,
// beside their sums; else each cell gathers its own products.
constexpr bool kPaired = PAIRED_COUNTS;
constexpr int kWordsOfPair = kPaired ? 1 : kClasses;
constexpr int kProducts = (kRowLevels - 1) * (kColumnLevels - 1) * kWordsOfPair;
constexpr int kHeldCells = kPrefixLevels ? power(kPrefixLevels, kPrefix > 0 ? kPrefix - 1 : 0) : 1, kMostHeld = 144;
constexpr int kHeldLevels = kPrefixLevels ? kPrefixLevels : 1;
constexpr bool kHoldsProducts = kPrefixLevels && 2 * kHeldCells * kProducts <= kMostHeld;
// More products than registers hold are read by levels of the row variable.
constexpr int kRowProducts = (kColumnLevels - 1) * kWordsOfPair, kMostGathered = 36;
constexpr bool kByRowLevels = !kHoldsProducts && kProducts > kMostGathered;
constexpr int kUnrolledRows = kByRowLevels ? 1 : kRowLevels;
constexpr int kUnrolledColumns = kColumnLevels <= 32 ? kColumnLevels : 4;
constexpr int kUnrolledProducts = kColumnLevels <= 32 ? kRowProducts : 4;

// A prefix of the batch: its variables, and where their patterns lie among the masks.
struct BatchPrefix {
  int positions[kPrefixRoom], n_levels[kPrefixRoom], stride[kPrefixRoom], first[kPrefixRoom];  // first: level 1
  int n_cells;
  bool ascends;

  __device__ __forceinline__ BatchPrefix(const Batch& batch, const LaneBlocks& lanes, int number) {
    n_cells = 1;
    ascends = true;
    int mask_stride = 1;
#pragma unroll
    for (int j = kPrefix - 1; j >= 0; --j) {
      const int local = number % batch.prefix_size[j];
      number /= batch.prefix_size[j];
      positions[j] = batch.prefix_begin[j] + local;
      n_levels[j] = lanes.n_levels[batch.prefix_lane[j]];
      stride[j] = mask_stride;
      first[j] = mask_stride * (1 + local * (n_levels[j] - 1));
      mask_stride *= batch.n_choices(lanes, j);
      n_cells *= n_levels[j];
    }
#pragma unroll
    for (int j = 1; j < kPrefix; ++j) ascends = ascends && positions[j - 1] < positions[j];
  }
  __device__ __forceinline__ int last() const { return kPrefix > 0 ? positions[kPrefixRoom - 1] : -1; }

  // Known to the compiler where all variables of all prefixes have the same number of levels.
  __device__ __forceinline__ int levels_at(int j) const { return kPrefixLevels ? kPrefixLevels : n_levels[j]; }
  __device__ __forceinline__ int cells() const { return kPrefixLevels ? power(kPrefixLevels, kPrefix) : n_cells; }

  // The levels of a cell, the last place running fastest.
  __device__ __forceinline__ void levels_of(int cell, int (&levels)[kPrefixRoom]) const {
#pragma unroll
    for (int j = kPrefix - 1; j >= 0; --j) {
      levels[j] = cell % levels_at(j);
      cell /= levels_at(j);
    }
  }

  // Calls add(mask, sign) for the patterns whose counts make up that of a cell; members may be open.
  template <class Add>
  __device__ __forceinline__ void for_patterns(const int (&levels)[kPrefixRoom], Add add) const {
    int n_patterns = 1, start = 0;
#pragma unroll
    for (int j = 0; j < kPrefix; ++j) {
      if (levels[j] == 0) n_patterns *= levels_at(j);
      if (levels[j] > 0) start += first[j] + (levels[j] - 1) * stride[j];
    }
#pragma unroll 1
    for (int pattern = 0; pattern < n_patterns; ++pattern) {
      int mask = start, sign = 1, rest = pattern;
#pragma unroll
      for (int j = 0; j < kPrefix; ++j) {
        if (levels[j] != 0) continue;
        const int level = rest % levels_at(j);
        rest /= levels_at(j);
        if (level > 0) {
          mask += first[j] + (level - 1) * stride[j];
          sign = -sign;
        }
      }
      add(mask, sign);
    }
  }
};

// The mask of the pattern whose first member gives `start` and whose others have the levels of a cell, open at 0.
__device__ __forceinline__ int mask_of_held(const BatchPrefix& prefix, int start, int cell) {
#pragma unroll
  for (int j = 1; j < kPrefix; ++j) {
    const int level = cell / power(kPrefixLevels, kPrefix - 1 - j) % kHeldLevels;
    if (level > 0) start += prefix.first[j] + (level - 1) * prefix.stride[j];
  }
  return start;
}

__device__ __forceinline__ void prefetch(const u32* place) { asm volatile("prefetch.global.L1 [%0];" ::"l"(place)); }

// Counts and information of each prefix of a batch with each of its variables, by cells of the prefix.
struct Margins {
  u32* of_rows;        // [prefix][cell][row level][class][row]
  float* row_factors;  // [prefix][cell][row level][kRowFactors][row]
  u32* of_columns;     // [prefix][cell][column level − 1][class][column]
  float* information;  // [prefix][rows, columns]: of (prefix, variable), less that of the prefix
  float* rest;         // likewise, without a member v of the prefix, plus v's maximum: the least over all v

  __device__ __forceinline__ i64 row_place(const Batch& batch, i64 cell, int level, int q) const {
    return ((cell * kRowLevels + level) * kClasses + q) * batch.n_rows;
  }
  __device__ __forceinline__ i64 factor_place(const Batch& batch, i64 cell, int level, int i) const {
    return ((cell * kRowLevels + level) * kRowFactors + i) * batch.n_rows;
  }
  __device__ __forceinline__ i64 column_place(const Batch& batch, i64 cell, int level, int q) const {
    return ((cell * (kColumnLevels - 1) + level - 1) * kClasses + q) * batch.n_columns;
  }
};

// In place of conversion instructions, of which a multiprocessor does few at a time.
__device__ __forceinline__ float to_float(int count) { return __int_as_float(count + 0x4B000000) - 8388608.0f; }

// The same of a sum of scores, which has a sign, below 2^22 with SMALL_SUMS.
__device__ __forceinline__ float sum_to_float(int sum) {
#ifdef SMALL_SUMS
  return __int_as_float(sum + 0x4B400000) - 12582912.0f;
#else
  return (float)sum;
#endif
}

// x·log2(ratio), where there is anything.
__device__ __forceinline__ float information_of(float x, float ratio) { return x > 0.0f ? x * __log2f(ratio) : 0.0f; }

// The samples of one cell of the prefix, and the products of a tuple in it → the cells of the tuple.
struct CellOfPrefix {
  const u32 *of_columns, *of_rows;  // of this column, this row
  const float* row_factors;
  i64 row_step, column_step;  // from class to class

  // Of a class at a level of the column variable, from 1 on. Differences of two classes in a word are those of both:
  // none is negative.
  static __device__ __forceinline__ int count_in(const int* of_row_level, int b, int q) {
    const int pair = b - 1;
    if (kPaired && kNumbers) {
      return q == 0 ? of_row_level[pair] & ((1 << kCountBits) - 1) : of_row_level[pair] >> kCountBits;
    }
    if (kPaired) return q == 0 ? (int)((u32)of_row_level[pair] >> 16) : of_row_level[pair] & 0xFFFF;
    return of_row_level[pair * kWordsOfPair + (kPaired ? 0 : q)];
  }

  // load(a, words): writes the products of a level of the row variable, from 1 on
  // visit(row level, column level, samples by class, factors by class): every cell of the tuple, the last levels first
  template <class Load, class Visit>
  __device__ __forceinline__ void for_cells(Load load, Visit visit) const {
    int left[kColumnLevels - 1][kClasses];
#pragma unroll kUnrolledColumns
    for (int b = 0; b < kColumnLevels - 1; ++b)
#pragma unroll
      for (int q = 0; q < kClasses; ++q) left[b][q] = of_columns[(b * kClasses + q) * column_step];
#pragma unroll kUnrolledRows
    for (int a = kRowLevels - 1; a >= 0; --a) {
      int n_left[kClasses], words[kRowProducts];
      float factor[kRowFactors];
      if (a > 0) load(a, words);
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        n_left[q] = of_rows[(a * kClasses + q) * row_step];
      }
#pragma unroll
      for (int i = 0; i < kRowFactors; ++i) factor[i] = row_factors[(a * kRowFactors + i) * row_step];
#pragma unroll kUnrolledColumns
      for (int b = kColumnLevels - 1; b >= 0; --b) {  // level 0 comes last: the rest of the row
        int n[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          n[q] = n_left[q];
          if (b > 0) {
            n[q] = a > 0 ? count_in(words, b, q) : left[b - 1][q];
            left[b - 1][q] -= n[q];
            n_left[q] -= n[q];
          }
        }
        visit(a, b, n, factor);
      }
    }
  }

  // products: of all levels, in registers
  template <class Visit>
  __device__ __forceinline__ void for_cells_of(const int* products, Visit visit) const {
    for_cells(
        [&](int a, int (&words)[kRowProducts]) {
#pragma unroll
          for (int i = 0; i < kRowProducts; ++i) words[i] = products[(a - 1) * kRowProducts + i];
        },
        visit);
  }
};

}  // namespace interplay
