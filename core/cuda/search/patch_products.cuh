// words of 16 × 16 variables, or a few times as many → their counts in the cells of a prefix, by binary matrix products
#pragma once

#include "search/search_piece.cuh"

namespace interplay {

// The counts of one tuple in one cell of the prefix, as products by class and levels of l and m. With two classes, the
// second product is of both classes; or the counts are paired.
struct CellCounts {
  u32 products[kMarginWords][(kRowLevels - 1) * (kColumnLevels - 1)];

  __device__ __forceinline__ u32 paired(int row_level, int column_level) const {
    return products[0][(row_level - 1) * (kColumnLevels - 1) + column_level - 1];
  }
  __device__ __forceinline__ float operator()(int q, int row_level, int column_level) const {
    return __uint_as_float(products[q][(row_level - 1) * (kColumnLevels - 1) + column_level - 1]) - kMagic;
  }
};

// Words of a warp's fragments, as they lie in the planes: of 16 rows or columns each, level by level.
template <int kLevels, int kFragments>
struct Fragments {
  const uint4* planes;
  i64 level_stride;
  int fragment_stride;
  uint4 held[kHeldRoom][kLevels - 1][kFragments];

  // first: row of the planes of level 1; stride: to those of the next level
  __device__ __forceinline__ Fragments(const Data& data, i64 first, i64 stride)
      : planes(reinterpret_cast<const uint4*>(data.planes + first * data.n_steps * kWordsPerStep) + threadIdx.x % 32),
        level_stride(stride * data.n_steps * kWordsPerStep / 4),
        fragment_stride(data.n_steps * 32) {
#pragma unroll
    for (int step = 0; step < kHeldRoom; ++step) {
      if (kHeldSteps > 0) load(step, held[step]);
    }
  }

  __device__ __forceinline__ void load(int step, uint4 (&words)[kLevels - 1][kFragments]) const {
#pragma unroll
    for (int level = 0; level < kLevels - 1; ++level)
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
        words[level][i] = planes[level * level_stride + i * fragment_stride + step * 32];
  }
};

using RowFragments = Fragments<kRowLevels, kRowFragments>;
using ColumnFragments = Fragments<kColumnLevels, kColumnFragments>;

// The products of a patch in some cells of the prefix.
struct PatchProducts {
  u32 sums[kCellsAtOnce][kMarginWords][(kRowLevels - 1) * (kColumnLevels - 1)][kRowFragments][2 * kColumnFragments][4];

  __device__ __forceinline__ void count(const Data& data, const Shared& shared, const RowFragments& rows,
                                        const ColumnFragments& columns, int first_cell) {
    if (kHeldSteps > 0) {
#pragma unroll
      for (int step = 0; step < kHeldRoom; ++step) {
        add_step(shared, kHeldSteps, rows.held[step], columns.held[step], first_cell, step >= kHeldStepsOf0, step,
                 step == 0 || step == kHeldStepsOf0);
      }
    } else if (kTable) {
      count_doubled(data, shared, rows, columns, first_cell);
    } else {
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        const auto add = [&](int step, bool is_first) {
          uint4 left[kRowLevels - 1][kRowFragments], right[kColumnLevels - 1][kColumnFragments];
          rows.load(step, left);
          columns.load(step, right);
          add_step(shared, data.n_steps, left, right, first_cell, q, step, is_first);
        };
        const int end = data.class_steps[q + 1];
        int step = data.class_steps[q];
        if (kPaired && q > 0) multiply(kOneOfClass0);
        add(step, true);
#pragma unroll 3
        for (++step; step < end; ++step) add(step, false);
      }
    }
  }

  // One of the cells takes the place of the first: so the same instructions serve all cells.
  __device__ __forceinline__ void bring_forward(int cell) {
    constexpr int kSumsOfCell = sizeof(sums[0]) / sizeof(u32);
#pragma unroll
    for (int other = 1; other < kCellsAtOnce; ++other) {
      if (cell != other) continue;
#pragma unroll
      for (int i = 0; i < kSumsOfCell; ++i) {
        // By name, lest the compiler select among all cells instead, which takes longer than to branch.
        asm volatile("mov.b32 %0, %1;" : "=r"((&sums[0][0][0][0][0][0])[i]) : "r"((&sums[other][0][0][0][0][0])[i]));
      }
    }
  }

  __device__ __forceinline__ CellCounts of_tuple(int cell, int i, int j, int e) const {
    CellCounts counts;
#pragma unroll
    for (int q = 0; q < kMarginWords; ++q)
#pragma unroll
      for (int ab = 0; ab < (kRowLevels - 1) * (kColumnLevels - 1); ++ab) {
        counts.products[q][ab] = sums[cell][q][ab][i][j][e];
      }
    return counts;
  }

 private:
  // One short loop over the steps of both classes, which stays in the instruction cache; the words of the next step are
  // on their way while those of this one are multiplied.
  __device__ __forceinline__ void count_doubled(const Data& data, const Shared& shared, const RowFragments& rows,
                                                const ColumnFragments& columns, int first_cell) {
    constexpr int kSums = sizeof(sums) / sizeof(u32);
#pragma unroll
    for (int i = 0; i < kSums; ++i) (&sums[0][0][0][0][0][0])[i] = 0;
    uint4 left[kRowLevels - 1][kRowFragments], right[kColumnLevels - 1][kColumnFragments];
    rows.load(0, left);
    columns.load(0, right);
    const int end_of_0 = data.class_steps[1];
#pragma unroll 1
    for (int step = 0; step < data.n_steps; ++step) {
      uint4 next_left[kRowLevels - 1][kRowFragments], next_right[kColumnLevels - 1][kColumnFragments];
      rows.load(min(step + 1, data.n_steps - 1), next_left);
      columns.load(min(step + 1, data.n_steps - 1), next_right);
      if (step == end_of_0) multiply(kOneOfClass0 / kOneOfClass1);  // class 0 into the upper halves
      add_step(shared, data.n_steps, left, right, first_cell, 0, step, false);
      copy(left, next_left);
      copy(right, next_right);
    }
    multiply(kOneOfClass1);
  }

  template <int kUpperLevels, int kFragments>
  __device__ __forceinline__ static void copy(uint4 (&to)[kUpperLevels][kFragments],
                                              const uint4 (&from)[kUpperLevels][kFragments]) {
#pragma unroll
    for (int level = 0; level < kUpperLevels; ++level)
#pragma unroll
      for (int i = 0; i < kFragments; ++i) to[level][i] = from[level][i];
  }

  __device__ __forceinline__ void multiply(u32 factor) {
    constexpr int kSums = sizeof(sums) / sizeof(u32);
#pragma unroll
    for (int i = 0; i < kSums; ++i) (&sums[0][0][0][0][0][0])[i] *= factor;
  }

  __device__ __forceinline__ void add_step(const Shared& shared, int n_steps,
                                           const uint4 (&left)[kRowLevels - 1][kRowFragments],
                                           const uint4 (&right)[kColumnLevels - 1][kColumnFragments], int first_cell,
                                           int q, int step, bool is_first) {
    const u32 magic[4] = {kMagicBits, kMagicBits, kMagicBits, kMagicBits}, zero[4] = {0, 0, 0, 0};
#pragma unroll
    for (int c = 0; c < kCellsAtOnce; ++c) {
      uint2 mask = make_uint2(~0u, ~0u);
      // Without a prefix too: masked words are in the registers that products need, and are not moved for each product.
      if (kPrefix > 0 || kPaired) mask = shared.masks[((first_cell + c) * n_steps + step) * 4 + threadIdx.x % 4];
#pragma unroll
      for (int b = 0; b < kColumnLevels - 1; ++b)
#pragma unroll
        for (int j = 0; j < 2 * kColumnFragments; ++j) {
          const uint4 words = right[b][j / 2];
          const uint2 masked =
              j % 2 ? make_uint2(words.y & mask.x, words.w & mask.y) : make_uint2(words.x & mask.x, words.z & mask.y);
#pragma unroll
          for (int a = 0; a < kRowLevels - 1; ++a)
#pragma unroll
            for (int i = 0; i < kRowFragments; ++i) {
              const int ab = a * (kColumnLevels - 1) + b;
              u32(&sum)[4] = sums[c][kPaired ? 0 : q][ab][i][j];
              if (kPaired && is_first && q == 0) {
                add_products(sum, left[a][i], masked, zero);
              } else if (kPaired || !is_first) {
                add_products(sum, left[a][i], masked, sum);
              } else if (kSumsOfBoth && q > 0) {
                add_products(sum, left[a][i], masked, sums[c][0][ab][i][j]);
              } else {
                add_products(sum, left[a][i], masked, magic);
              }
            }
        }
    }
  }
};

}  // namespace interplay
