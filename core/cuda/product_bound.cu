// the counts of a batch → the tuples that may raise a maximum
//
// The cells of a prefix with a member at level 0 have what the pattern with that member open has, less what the cells
// with its other levels have; likewise for rows and columns. What a tuple gains by its column is bounded for two
// classes as gain_bound.cuh says; for others it is, in floats,
//     Σ x·log2(x·X / (S·X_q)),
// over the samples x of class q in each cell of all members, S of all classes in it, X_q and X those of the cell
// without the column; pseudocounts included. Gains of the other members follow from it as in tuple_search.cu. All
// informations are taken less that of the prefix: so they are small, and the differences of floats good.
//
// Bottleneck: arithmetic, a dozen operations and a reciprocal for each cell of two classes; then loads of counts.
// Limits: 2^23 samples in all, since counts become floats by way of their bits.
//
// Compiled once for each combination of DIMENSIONS, ROW_LEVELS, COLUMN_LEVELS, CLASSES and
//   PREFIX_LEVELS       levels of every variable of the prefix, 0 if they differ
//   BOTH_IN_A_WORD      as in tuple_products.cu
#include "gain_bound.cuh"
#include "product_batch.cuh"

namespace interplay {

constexpr int kDimensions = DIMENSIONS, kPrefix = DIMENSIONS - 2, kPrefixRoom = kPrefix > 0 ? kPrefix : 1;
constexpr int kRowLevels = ROW_LEVELS, kColumnLevels = COLUMN_LEVELS, kClasses = CLASSES;
constexpr int kPrefixLevels = PREFIX_LEVELS;
constexpr float kNever = 1e30f;
// Of each cell of (prefix, l). Two classes: the share of class 0, and the two factors of the bound; others: X / X_q.
constexpr int kRowFactors = kClasses == 2 ? 3 : kClasses;
constexpr int kOpen = -1;
// What the bound may be too small by, relatively: reciprocals, and the deviation of class 0, whose error is at most a
// few 2⁻²⁴ of the cell; with it as in wide_kernels-inl.hpp.
constexpr float kInflation = 1.004f;
// Rows that a block of threads takes with its columns, one of these to a thread.
constexpr int kRowsOfUnit = 8, kThreads = 128;

__host__ __device__ constexpr int power(int base, int exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}
// Products of all patterns that share the level of the prefix's first member are held in registers where these suffice,
// beside what they add up to; else each cell gathers its own.
constexpr bool kBothInAWord = BOTH_IN_A_WORD;
constexpr int kWordsOfPair = kBothInAWord ? 1 : kClasses;
constexpr int kProducts = (kRowLevels - 1) * (kColumnLevels - 1) * kWordsOfPair;
constexpr int kHeldCells = kPrefixLevels ? power(kPrefixLevels, kPrefix > 0 ? kPrefix - 1 : 0) : 1, kMostHeld = 144;
constexpr int kHeldLevels = kPrefixLevels ? kPrefixLevels : 1;
constexpr bool kHoldsProducts = kPrefixLevels && 2 * kHeldCells * kProducts <= kMostHeld;

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

// What is known of each prefix of a batch with each of its variables, by cells of the prefix.
struct Margins {
  u32* of_rows;        // [prefix][cell][row level][class][row]
  float* row_factors;  // [prefix][cell][row level][kRowFactors][row]
  u32* of_columns;     // [prefix][cell][column level − 1][class][column]
  float* information;  // [prefix][rows, columns]: what the variable tells beyond the prefix
  float* rest;         // likewise: the least of what all but a member of the prefix tell, plus that member's maximum

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

// What conversion instructions would do, of which there are few.
__device__ __forceinline__ float to_float(int count) { return __int_as_float(count + 0x4B000000) - 8388608.0f; }

// x·log2(ratio), where there is anything.
__device__ __forceinline__ float information_of(float x, float ratio) { return x > 0.0f ? x * __log2f(ratio) : 0.0f; }

// The samples of one cell of the prefix, and the products of a tuple in it → what it tells, or its cells.
struct CellOfPrefix {
  const u32 *of_columns, *of_rows;  // of this column, this row
  const float* row_factors;
  i64 row_step, column_step;  // from class to class

  // Of a class at levels from 1 on. Differences of two classes in a word are those of both: none is negative.
  static __device__ __forceinline__ int count_in(const int* products, int a, int b, int q) {
    const int pair = (a - 1) * (kColumnLevels - 1) + b - 1;
    if (kBothInAWord) return q == 0 ? (int)((u32)products[pair] >> 16) : products[pair] & 0xFFFF;
    return products[pair * kWordsOfPair + (kBothInAWord ? 0 : q)];
  }

  // visit(row level, column level, samples by class, factors by class): every cell of the tuple, the last levels first
  template <class Visit>
  __device__ __forceinline__ void for_cells(const int* products, Visit visit) const {
    int left[kColumnLevels - 1][kClasses];
#pragma unroll
    for (int b = 0; b < kColumnLevels - 1; ++b)
#pragma unroll
      for (int q = 0; q < kClasses; ++q) left[b][q] = of_columns[(b * kClasses + q) * column_step];
#pragma unroll
    for (int a = kRowLevels - 1; a >= 0; --a) {
      int n_left[kClasses];
      float factor[kRowFactors];
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        n_left[q] = of_rows[(a * kClasses + q) * row_step];
      }
#pragma unroll
      for (int i = 0; i < kRowFactors; ++i) factor[i] = row_factors[(a * kRowFactors + i) * row_step];
#pragma unroll
      for (int b = kColumnLevels - 1; b >= 0; --b) {  // level 0 comes last: what the others leave
        int n[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          n[q] = n_left[q];
          if (b > 0) {
            n[q] = a > 0 ? count_in(products, a, b, q) : left[b - 1][q];
            left[b - 1][q] -= n[q];
            n_left[q] -= n[q];
          }
        }
        visit(a, b, n, factor);
      }
    }
  }
};

}  // namespace interplay

using namespace interplay;

// Counts of each variable in each cell of each prefix, and what they tell. A block of threads to a prefix and some
// variables.
// counts: as count_margins has them
extern "C" __global__ void find_margins(const int* lane_first, const int* lane_levels, const int* lane_rows,
                                        const i64* lane_row, const Batch* batches, int number,
                                        const Tile<kDimensions>* tiles, const double* best, int n_groups,
                                        const float* pseudocounts, const u32* counts, u32* cell_rows,
                                        float* row_factors, u32* cell_columns, float* information, float* rest) {
  __shared__ float least_of[kPrefixRoom];
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch batch = batches[number];
  const Tile<kDimensions>& tile = tiles[batch.tile];
  const BatchPrefix prefix(batch, lanes, blockIdx.y);
  if (!prefix.ascends) return;
  const int variable = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_row = variable < batch.n_rows, exists = variable < batch.n_rows + batch.n_columns;
  const int in_part = is_row ? variable : variable - batch.n_rows;
  const int n_levels = is_row ? kRowLevels : kColumnLevels, others = is_row ? kColumnLevels : kRowLevels;
  const int row_planes = batch.row_planes(lanes), n_planes = row_planes + batch.column_planes(lanes);
  const int first_plane = is_row ? plane_of(in_part, 1, kRowLevels) : row_planes + plane_of(in_part, 1, kColumnLevels);
  const int stride = n_planes + kRowsPerFragment;
  const Margins margins = {cell_rows, row_factors, cell_columns, information, rest};
  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = pseudocounts[q];

  // Samples by class of a cell in a plane; the last plane has all.
  const auto count = [&](const int (&levels)[kPrefixRoom], int plane, int (&n)[kClasses]) {
#pragma unroll
    for (int q = 0; q < kClasses; ++q) n[q] = 0;
    prefix.for_patterns(levels, [&](int mask, int sign) {
#pragma unroll
      for (int q = 0; q < kClasses; ++q) n[q] += sign * (int)counts[((i64)mask * kClasses + q) * stride + plane];
    });
  };
  // Adds what a part tells of a whole; n, whole: samples, of which each cell gathers so many times the pseudocounts
  const auto add_part = [&](float& told, const int (&n)[kClasses], int gathered, const int (&whole)[kClasses],
                            int gathered_by_whole) {
    float x[kClasses], of_whole[kClasses], sum = 0, all = 0;
#pragma unroll
    for (int q = 0; q < kClasses; ++q) {
      x[q] = fmaf((float)gathered, pseudo[q], (float)n[q]);
      of_whole[q] = fmaf((float)gathered_by_whole, pseudo[q], (float)whole[q]);
      sum += x[q];
      all += of_whole[q];
    }
    const float factor = all * reciprocal(sum);
#pragma unroll
    for (int q = 0; q < kClasses; ++q) told += information_of(x[q], x[q] * factor * reciprocal(of_whole[q]));
  };

  // A thread to a member of the prefix: its maximum so far, less what it tells beyond the others.
  if ((int)threadIdx.x < kPrefix) {
    const int j = threadIdx.x;
    float of_member = 0;
#pragma unroll 1
    for (int cell = 0; cell < prefix.cells(); ++cell) {
      int levels[kPrefixRoom], n[kClasses], whole[kClasses], levels_of_member = 1;
      prefix.levels_of(cell, levels);
      count(levels, n_planes, n);
#pragma unroll
      for (int i = 0; i < kPrefix; ++i) {
        if (i == j) levels[i] = kOpen, levels_of_member = prefix.levels_at(i);
      }
      count(levels, n_planes, whole);
      add_part(of_member, n, kRowLevels * kColumnLevels, whole, kRowLevels * kColumnLevels * levels_of_member);
    }
    int position = 0, group = 0;
#pragma unroll
    for (int i = 0; i < kPrefix; ++i) {
      if (i == j) position = prefix.positions[i], group = tile.places[i].group;
    }
    least_of[j] = __double2float_rd(best[(i64)position * n_groups + group]) - of_member;
  }
  __syncthreads();
  if (!exists) return;

  // What the variable tells in a cell, which may gather several of the prefix.
  const auto add_told = [&](float& told, const int (&levels)[kPrefixRoom], int gathered, bool keep, i64 cell) {
    int whole[kClasses], left[kClasses];
    count(levels, n_planes, whole);
#pragma unroll
    for (int q = 0; q < kClasses; ++q) left[q] = whole[q];
#pragma unroll 1
    for (int level = n_levels - 1; level >= 0; --level) {
      int n[kClasses];
#pragma unroll
      for (int q = 0; q < kClasses; ++q) n[q] = left[q];
      if (level > 0) count(levels, first_plane + (level - 1) * kRowsPerFragment, n);
      float sum = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        left[q] -= n[q];
        sum += fmaf((float)gathered, pseudo[q], (float)n[q]);
      }
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        if (keep && is_row) {
          cell_rows[margins.row_place(batch, cell, level, q) + in_part] = n[q];
          const float x = fmaf((float)gathered, pseudo[q], (float)n[q]);
          if (kClasses != 2) row_factors[margins.factor_place(batch, cell, level, q) + in_part] = sum * reciprocal(x);
        }
        if (keep && !is_row && level > 0) cell_columns[margins.column_place(batch, cell, level, q) + in_part] = n[q];
      }
      if (kClasses == 2 && keep && is_row) {
        const float n_0 = fmaf((float)gathered, pseudo[0], (float)n[0]), n_1 = sum - n_0;
        const float share = n_0 * reciprocal(fmaxf(sum, 1e-12f));
        // One class only: nothing to learn, whatever the division.
        const float2 bound = fminf(n_0, n_1) > 0.0f ? divergence_bound(sum, share) : make_float2(0.0f, 0.0f);
        float* factors = row_factors + margins.factor_place(batch, cell, level, 0) + in_part;
        factors[0] = share;
        factors[batch.n_rows] = bound.x;
        factors[2 * batch.n_rows] = bound.y;
      }
      add_part(told, n, gathered, whole, gathered * n_levels);
    }
  };
  float told = 0, least = kNever;
#pragma unroll 1
  for (int cell = 0; cell < prefix.cells(); ++cell) {
    int levels[kPrefixRoom];
    prefix.levels_of(cell, levels);
    add_told(told, levels, others, true, (i64)blockIdx.y * prefix.cells() + cell);
  }
#pragma unroll 1
  for (int j = 0; j < kPrefix; ++j) {
    float without = 0;
#pragma unroll 1
    for (int cell = 0; cell < prefix.cells(); ++cell) {
      int levels[kPrefixRoom], level_of_member = 0, levels_of_member = 1;
      prefix.levels_of(cell, levels);
#pragma unroll
      for (int i = 0; i < kPrefix; ++i) {
        if (i == j) level_of_member = levels[i], levels[i] = kOpen, levels_of_member = prefix.levels_at(i);
      }
      if (level_of_member == 0) add_told(without, levels, others * levels_of_member, false, 0);
    }
    least = fminf(least, least_of[j] + without);
  }
  const i64 place = (i64)blockIdx.y * (batch.n_rows + batch.n_columns) + variable;
  information[place] = told;
  rest[place] = tile.only_last_counts ? kNever : least;
}

// The tuples of some units of a batch: a unit is a prefix and kRowsOfUnit rows. A thread to a column. Survivors take
// their counts along: to count a tuple again takes as long as its samples are many.
// products: as count_products has them
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    bound_products(const int* lane_first, const int* lane_levels, const int* lane_rows, const i64* lane_row,
                   const Batch* batches, int number, const Tile<kDimensions>* tiles, const double* best, int n_groups,
                   const float* pseudocounts, const u32* products, i64 row_stride, i64 class_stride,
                   const u32* cell_rows, const float* row_factors, const u32* cell_columns, const float* information,
                   const float* rest, int first_unit, float tolerance, int* survivor_tuples, u32* survivor_counts,
                   int counts_stride, u32* n_survivors, u32 capacity) {
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch& batch = batches[number];
  const Tile<kDimensions>& tile = tiles[batch.tile];
  const int unit = first_unit + blockIdx.x, row_units = batch.n_rows / kRowsOfUnit;
  const int prefix_number = unit / row_units, unit_row = unit % row_units * kRowsOfUnit;
  const BatchPrefix prefix(batch, lanes, prefix_number);
  const Place rows = tile.places[kPrefix], columns = tile.places[kPrefix + 1];
  const int column = blockIdx.y * kThreads + threadIdx.x, m = batch.first_column + column;
  const int first_l = max(max(batch.first_row + unit_row, rows.begin), prefix.last() + 1);
  const int end_l = min(min(batch.first_row + unit_row + kRowsOfUnit, rows.end), m);
  if (!prefix.ascends || column >= batch.n_columns || m < columns.begin || m >= columns.end || first_l >= end_l) return;

  const Margins margins = {const_cast<u32*>(cell_rows), const_cast<float*>(row_factors), const_cast<u32*>(cell_columns),
                           const_cast<float*>(information), const_cast<float*>(rest)};
  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = pseudocounts[q];
  const i64 first_variable = (i64)prefix_number * (batch.n_rows + batch.n_columns);
  const i64 of_column = first_variable + batch.n_rows + column;
  const float column_best = __double2float_rd(best[(i64)m * n_groups + columns.group]);
  const float column_information = information[of_column], column_rest = rest[of_column];

#pragma unroll 1
  for (int l = first_l; l < end_l; ++l) {
    const int row = l - batch.first_row;
    const u32* of_tuple = products + plane_of(row, 1, kRowLevels) * row_stride + plane_of(column, 1, kColumnLevels);
    // Products of all levels and classes with a mask.
    const auto place_of_product = [&](int mask, int i) {
      const int q = i % kWordsOfPair, pair = i / kWordsOfPair;
      const int b = pair % (kColumnLevels - 1), a = pair / (kColumnLevels - 1);
      return of_tuple + ((i64)mask * kWordsOfPair + q) * class_stride + (a * row_stride + b) * kRowsPerFragment;
    };
    const auto product = [&](int mask, int i) { return (int)*place_of_product(mask, i); };
    const auto cell_of_prefix = [&](int cell) {
      const i64 in_all = (i64)prefix_number * prefix.cells() + cell;
      return CellOfPrefix{cell_columns + margins.column_place(batch, in_all, 1, 0) + column,
                          cell_rows + margins.row_place(batch, in_all, 0, 0) + row,
                          row_factors + margins.factor_place(batch, in_all, 0, 0) + row, batch.n_rows, batch.n_columns};
    };
    const auto gather = [&](int cell, int (&counts)[kProducts]) {
      int levels[kPrefixRoom];
      prefix.levels_of(cell, levels);
#pragma unroll
      for (int i = 0; i < kProducts; ++i) counts[i] = 0;
      prefix.for_patterns(levels, [&](int mask, int sign) {
#pragma unroll
        for (int i = 0; i < kProducts; ++i) counts[i] += sign * product(mask, i);
      });
    };
    if constexpr (kHoldsProducts) {
      // What the next row needs, while this one is computed: it may come from far.
      if (l + 1 < end_l) {
        const int next = (plane_of(row + 1, 1, kRowLevels) - plane_of(row, 1, kRowLevels)) * (int)row_stride;
#pragma unroll 1
        for (int level = kPrefix > 0 ? kPrefixLevels - 1 : 0; level >= 0; --level) {
          const int start = level > 0 ? prefix.first[0] + (level - 1) * prefix.stride[0] : 0;
#pragma unroll
          for (int cell = 0; cell < kHeldCells; ++cell) {
            const int mask = mask_of_held(prefix, start, cell);
#pragma unroll
            for (int i = 0; i < kProducts; ++i) {
              // The levels of a column lie side by side: every other one is in the same line.
              if (i / kWordsOfPair % (kColumnLevels - 1) % 2 == 0) prefetch(place_of_product(mask, i) + next);
            }
          }
        }
      }
    }
    float told = 0;
    const auto add_told = [&](int, int, const int (&n)[kClasses], const float (&factor)[kRowFactors]) {
      float x[kClasses], sum = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        x[q] = to_float(n[q]) + pseudo[q];
        sum += x[q];
      }
      const float inverse = reciprocal(fmaxf(sum, 1e-24f));
      if constexpr (kClasses == 2) {
        const float excess = fmaf(-factor[0], sum, x[0]), deviation = excess * inverse;
        told = fmaf(excess * deviation, fmaf(factor[2], deviation * deviation, factor[1]), told);
      } else {
#pragma unroll
        for (int q = 0; q < kClasses; ++q) told += information_of(x[q], x[q] * inverse * factor[q]);
      }
    };
    if constexpr (kHoldsProducts) {
      // The first member's levels from 1 on; what they add up to is taken off where it is open, which leaves level 0.
      int sums[kHeldCells][kProducts];
#pragma unroll
      for (int cell = 0; cell < kHeldCells; ++cell)
#pragma unroll
        for (int i = 0; i < kProducts; ++i) sums[cell][i] = 0;
#pragma unroll 1
      for (int level = kPrefix > 0 ? kPrefixLevels - 1 : 0; level >= 0; --level) {
        const int start = level > 0 ? prefix.first[0] + (level - 1) * prefix.stride[0] : 0;
        int held[kHeldCells][kProducts];
#pragma unroll
        for (int cell = 0; cell < kHeldCells; ++cell) {
          const int mask = mask_of_held(prefix, start, cell);
#pragma unroll
          for (int i = 0; i < kProducts; ++i) held[cell][i] = product(mask, i);
        }
        // Level 0 of the other members: what their other levels leave.
#pragma unroll
        for (int j = 1; j < kPrefix; ++j)
#pragma unroll
          for (int cell = 0; cell < kHeldCells; ++cell) {
            const int step = power(kPrefixLevels, kPrefix - 1 - j);
            if (cell / step % kHeldLevels != 0) continue;
#pragma unroll
            for (int other = 1; other < kPrefixLevels; ++other)
#pragma unroll
              for (int i = 0; i < kProducts; ++i) held[cell][i] -= held[cell + other * step][i];
          }
#pragma unroll
        for (int cell = 0; cell < kHeldCells; ++cell) {
#pragma unroll
          for (int i = 0; i < kProducts; ++i) {
            held[cell][i] -= level > 0 ? 0 : sums[cell][i];
            sums[cell][i] += held[cell][i];
          }
          cell_of_prefix(level * kHeldCells + cell).for_cells(held[cell], add_told);
        }
      }
    } else {
#pragma unroll 1
      for (int cell = 0; cell < prefix.cells(); ++cell) {
        int counts[kProducts];
        gather(cell, counts);
        cell_of_prefix(cell).for_cells(counts, add_told);
      }
    }
    const i64 of_row = first_variable + row;
    const float row_best = tile.only_last_counts ? kNever : __double2float_rd(best[(i64)l * n_groups + rows.group]);
    const float others = fminf(row_best + column_information, fmaxf(rest[of_row], column_rest)) - information[of_row];
    if (fmaf(told, kInflation, tolerance) < fminf(column_best, others)) continue;
    const u32 place = atomicAdd(n_survivors, 1u);
    if (place >= capacity) continue;
    int* tuple = survivor_tuples + (i64)place * (1 + kDimensions);
    tuple[0] = batch.tile;
#pragma unroll
    for (int v = 0; v < kPrefix; ++v) tuple[1 + v] = prefix.positions[v];
    tuple[1 + kPrefix] = l;
    tuple[2 + kPrefix] = m;
    u32* of_survivor = survivor_counts + (i64)place * counts_stride;
#pragma unroll 1
    for (int cell = 0; cell < prefix.cells(); ++cell) {
      int counts[kProducts];
      gather(cell, counts);
      cell_of_prefix(cell).for_cells(counts, [&](int a, int b, const int (&n)[kClasses], const float (&)[kRowFactors]) {
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          of_survivor[((cell * kRowLevels + a) * kColumnLevels + b) * kClasses + q] = (u32)n[q];
        }
      });
    }
  }
}
