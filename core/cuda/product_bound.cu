// the counts of a batch → the tuples that may raise a maximum
//
// The cells of a prefix with a member at level 0 have what the pattern with that member open has, less what the cells
// with its other levels have; likewise for rows and columns. What a tuple gains by its column is, in floats,
//     Σ x·log2(x·X / (S·X_q)),
// over the samples x of class q in each cell of all members, S of all classes in it, X_q and X those of the cell without
// the column; pseudocounts included. Gains of the other members follow from it as in tuple_search.cu. All informations
// are taken less that of the prefix: so they are small, and the differences of floats good.
//
// Compiled once for each combination of DIMENSIONS, ROW_LEVELS, COLUMN_LEVELS, CLASSES.
#include "gain_bound.cuh"
#include "product_batch.cuh"

namespace interplay {

constexpr int kDimensions = DIMENSIONS, kPrefix = DIMENSIONS - 2, kPrefixRoom = kPrefix > 0 ? kPrefix : 1;
constexpr int kRowLevels = ROW_LEVELS, kColumnLevels = COLUMN_LEVELS, kClasses = CLASSES;
constexpr float kNever = 1e30f;
constexpr int kOpen = -1;
// Rows that a block of threads takes with its columns, one of these to a thread.
constexpr int kRowsOfUnit = 8, kThreads = 128;

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

  // The levels of a cell, the last place running fastest.
  __device__ __forceinline__ void levels_of(int cell, int (&levels)[kPrefixRoom]) const {
#pragma unroll
    for (int j = kPrefix - 1; j >= 0; --j) {
      levels[j] = cell % n_levels[j];
      cell /= n_levels[j];
    }
  }

  // Calls add(mask, sign) for the patterns whose counts make up that of a cell; members may be open.
  template <class Add>
  __device__ __forceinline__ void for_patterns(const int (&levels)[kPrefixRoom], Add add) const {
    int n_patterns = 1, start = 0;
#pragma unroll
    for (int j = 0; j < kPrefix; ++j) {
      if (levels[j] == 0) n_patterns *= n_levels[j];
      if (levels[j] > 0) start += first[j] + (levels[j] - 1) * stride[j];
    }
#pragma unroll 1
    for (int pattern = 0; pattern < n_patterns; ++pattern) {
      int mask = start, sign = 1, rest = pattern;
#pragma unroll
      for (int j = 0; j < kPrefix; ++j) {
        if (levels[j] != 0) continue;
        const int level = rest % n_levels[j];
        rest /= n_levels[j];
        if (level > 0) {
          mask += first[j] + (level - 1) * stride[j];
          sign = -sign;
        }
      }
      add(mask, sign);
    }
  }
};

// What is known of each prefix of a batch with each of its variables, by cells of the prefix.
struct Margins {
  u32* of_rows;        // [prefix][cell][row level][class][row]
  float* row_factors;  // the same: X / X_q
  u32* of_columns;     // [prefix][cell][column level − 1][class][column]
  float* information;  // [prefix][rows, columns]: what the variable tells beyond the prefix
  float* rest;         // likewise: the least of what all but a member of the prefix tell, plus that member's maximum

  __device__ __forceinline__ i64 row_place(const Batch& batch, i64 cell, int level, int q) const {
    return ((cell * kRowLevels + level) * kClasses + q) * batch.n_rows;
  }
  __device__ __forceinline__ i64 column_place(const Batch& batch, i64 cell, int level, int q) const {
    return ((cell * (kColumnLevels - 1) + level - 1) * kClasses + q) * batch.n_columns;
  }
};

// x·log2(ratio), where there is anything.
__device__ __forceinline__ float information_of(float x, float ratio) { return x > 0.0f ? x * __log2f(ratio) : 0.0f; }

}  // namespace interplay

using namespace interplay;

// Counts of each variable in each cell of each prefix, and what they tell. A thread to a prefix and a variable.
// counts: as count_margins has them
extern "C" __global__ void find_margins(const int* lane_first, const int* lane_levels, const int* lane_rows,
                                        const i64* lane_row, const Batch* batches, int number,
                                        const Tile<kDimensions>* tiles, const double* best, int n_groups,
                                        const float* pseudocounts, const u32* counts, u32* cell_rows,
                                        float* row_factors, u32* cell_columns, float* information, float* rest) {
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch batch = batches[number];
  const Tile<kDimensions>& tile = tiles[batch.tile];
  const int variable = blockIdx.x * blockDim.x + threadIdx.x;
  if (variable >= batch.n_rows + batch.n_columns) return;
  const BatchPrefix prefix(batch, lanes, blockIdx.y);
  if (!prefix.ascends) return;
  const Margins margins = {cell_rows, row_factors, cell_columns, information, rest};
  const bool is_row = variable < batch.n_rows;
  const int in_part = is_row ? variable : variable - batch.n_rows;
  const int n_levels = is_row ? kRowLevels : kColumnLevels, others = is_row ? kColumnLevels : kRowLevels;
  const int row_planes = batch.row_planes(lanes), n_planes = row_planes + batch.column_planes(lanes);
  const int first_plane = is_row ? in_part : row_planes + in_part, plane_step = is_row ? batch.n_rows : batch.n_columns;
  const int stride = n_planes + kRowsPerFragment;

  // Samples of a class in a cell, at a level from 1 on of the variable or, for level 0, in all.
  const auto count = [&](const int (&levels)[kPrefixRoom], int level, int q) {
    const int plane = level == 0 ? n_planes : first_plane + (level - 1) * plane_step;
    int sum = 0;
    prefix.for_patterns(levels, [&](int mask, int sign) {
      sum += sign * (int)counts[((i64)mask * kClasses + q) * stride + plane];
    });
    return sum;
  };
  // What the variable tells in a cell that gathers so many times the pseudocounts of its other last member.
  const auto gain = [&](const int (&levels)[kPrefixRoom], int gathered, bool keep, i64 cell) {
    float whole[kClasses], all = 0, told = 0;
    int left[kClasses];
#pragma unroll
    for (int q = 0; q < kClasses; ++q) {
      left[q] = count(levels, 0, q);
      whole[q] = (float)left[q] + (float)(gathered * n_levels) * pseudocounts[q];
      all += whole[q];
    }
#pragma unroll 1
    for (int level = n_levels - 1; level >= 0; --level) {
      float x[kClasses], sum = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        const int n = level == 0 ? left[q] : count(levels, level, q);
        left[q] -= n;
        x[q] = (float)n + (float)gathered * pseudocounts[q];
        sum += x[q];
        if (keep && is_row) cell_rows[margins.row_place(batch, cell, level, q) + in_part] = n;
        if (keep && !is_row && level > 0) cell_columns[margins.column_place(batch, cell, level, q) + in_part] = n;
      }
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        if (keep && is_row) row_factors[margins.row_place(batch, cell, level, q) + in_part] = sum / x[q];
        told += information_of(x[q], x[q] * all / (sum * whole[q]));
      }
    }
    return told;
  };

  float told = 0;
  int levels[kPrefixRoom];
  const i64 first_cell = (i64)blockIdx.y * prefix.n_cells;
#pragma unroll 1
  for (int cell = 0; cell < prefix.n_cells; ++cell) {
    prefix.levels_of(cell, levels);
    told += gain(levels, others, true, first_cell + cell);
  }
  float least = kNever;
#pragma unroll 1
  for (int j = 0; j < kPrefix; ++j) {
    // What the variable and what the member tell beyond the prefix without that member.
    float of_variable = 0, of_member = 0;
#pragma unroll 1
    for (int cell = 0; cell < prefix.n_cells; ++cell) {
      prefix.levels_of(cell, levels);
      int without[kPrefixRoom];
      int level_of_member = 0, levels_of_member = 1;
#pragma unroll
      for (int i = 0; i < kPrefix; ++i) {
        without[i] = i == j ? kOpen : levels[i];
        if (i == j) level_of_member = levels[i], levels_of_member = prefix.n_levels[i];
      }
      if (level_of_member == 0) of_variable += gain(without, others * levels_of_member, false, 0);
      float x[kClasses], whole[kClasses], sum = 0, all = 0;
      const float gathered = (float)(kRowLevels * kColumnLevels);
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        x[q] = (float)count(levels, 0, q) + gathered * pseudocounts[q];
        whole[q] = (float)count(without, 0, q) + gathered * (float)levels_of_member * pseudocounts[q];
        sum += x[q];
        all += whole[q];
      }
#pragma unroll
      for (int q = 0; q < kClasses; ++q) of_member += information_of(x[q], x[q] * all / (sum * whole[q]));
    }
    int position = 0, group = 0;
#pragma unroll
    for (int i = 0; i < kPrefix; ++i) {
      if (i == j) position = prefix.positions[i], group = tile.places[i].group;
    }
    const float best_of_member = __double2float_rd(best[(i64)position * n_groups + group]);
    least = fminf(least, best_of_member + (of_variable - of_member));
  }
  const i64 place = (i64)blockIdx.y * (batch.n_rows + batch.n_columns) + variable;
  information[place] = told;
  rest[place] = tile.only_last_counts ? kNever : least;
}

// The tuples of some units of a batch: a unit is a prefix and kRowsOfUnit rows. A thread to a column.
// products: as count_products has them
extern "C" __global__ void __launch_bounds__(kThreads)
    bound_products(const int* lane_first, const int* lane_levels, const int* lane_rows, const i64* lane_row,
                   const Batch* batches, int number, const Tile<kDimensions>* tiles, const double* best, int n_groups,
                   const float* pseudocounts, const u32* products, i64 row_stride, i64 class_stride,
                   const u32* cell_rows, const float* row_factors, const u32* cell_columns, const float* information,
                   const float* rest, int first_unit, float tolerance, int* survivor_tuples, u32* n_survivors,
                   u32 capacity) {
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

  const Margins margins = {const_cast<u32*>(cell_rows), const_cast<float*>(row_factors),
                           const_cast<u32*>(cell_columns), const_cast<float*>(information), const_cast<float*>(rest)};
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
    float told = 0;
#pragma unroll 1
    for (int cell = 0; cell < prefix.n_cells; ++cell) {
      int levels[kPrefixRoom];
      prefix.levels_of(cell, levels);
      int counts[kRowLevels - 1][kColumnLevels - 1][kClasses];
#pragma unroll
      for (int i = 0; i < (kRowLevels - 1) * (kColumnLevels - 1) * kClasses; ++i) (&counts[0][0][0])[i] = 0;
      prefix.for_patterns(levels, [&](int mask, int sign) {
        const u32* of_mask = products + (i64)mask * kClasses * class_stride + row * row_stride + column;
#pragma unroll
        for (int q = 0; q < kClasses; ++q)
#pragma unroll
          for (int a = 0; a < kRowLevels - 1; ++a)
#pragma unroll
            for (int b = 0; b < kColumnLevels - 1; ++b) {
              counts[a][b][q] += sign * (int)of_mask[q * class_stride + a * batch.n_rows * row_stride + b * batch.n_columns];
            }
      });
      const i64 in_all = (i64)prefix_number * prefix.n_cells + cell;
      int left[kColumnLevels - 1][kClasses];
#pragma unroll
      for (int b = 0; b < kColumnLevels - 1; ++b)
#pragma unroll
        for (int q = 0; q < kClasses; ++q) left[b][q] = cell_columns[margins.column_place(batch, in_all, b + 1, q) + column];
#pragma unroll
      for (int a = kRowLevels - 1; a >= 0; --a) {
        int n_left[kClasses];
        float factor[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          const i64 place = margins.row_place(batch, in_all, a, q) + row;
          n_left[q] = cell_rows[place];
          factor[q] = row_factors[place];
        }
#pragma unroll
        for (int b = kColumnLevels - 1; b >= 0; --b) {  // level 0 comes last: what the others leave
          float x[kClasses], sum = 0;
#pragma unroll
          for (int q = 0; q < kClasses; ++q) {
            int n = n_left[q];
            if (b > 0) {
              n = a > 0 ? counts[a > 0 ? a - 1 : 0][b - 1][q] : left[b - 1][q];
              left[b - 1][q] -= n;
              n_left[q] -= n;
            }
            x[q] = (float)n + pseudo[q];
            sum += x[q];
          }
          const float inverse = reciprocal(sum);
#pragma unroll
          for (int q = 0; q < kClasses; ++q) told += information_of(x[q], x[q] * inverse * factor[q]);
        }
      }
    }
    const i64 of_row = first_variable + row;
    const float row_best =
        tile.only_last_counts ? kNever : __double2float_rd(best[(i64)l * n_groups + rows.group]);
    const float others = fminf(row_best + column_information, fmaxf(rest[of_row], column_rest)) - information[of_row];
    if (fmaf(told, 1.00001f, tolerance) < fminf(column_best, others)) continue;
    const u32 place = atomicAdd(n_survivors, 1u);
    if (place >= capacity) continue;
    int* tuple = survivor_tuples + (i64)place * (1 + kDimensions);
    tuple[0] = batch.tile;
#pragma unroll
    for (int v = 0; v < kPrefix; ++v) tuple[1 + v] = prefix.positions[v];
    tuple[1 + kPrefix] = l;
    tuple[2 + kPrefix] = m;
  }
}
