// the counts of single planes with the masks of a batch → cells of each prefix with each variable, and their
// information
#pragma once

#include "products/product_cells.cuh"

using namespace interplay;

// Counts of each variable in each cell of each prefix, and their information. A block of threads to a prefix and some
// variables.
// counts: as count_margins has them. pseudocounts: of a number outcome, as SumBound has its constants; information then
// is a lower bound of that of prefix and variable, with nothing subtracted
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
  const SumBound sum_bound(pseudocounts);  // read with NUMBERS alone
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
  // Adds the information of one level within a whole cell; n, whole: samples; gathered: how many cells of the tuple
  // they gather, each with pseudocounts
  const auto add_part = [&](float& sum_of_cells, const int (&n)[kClasses], int gathered, const int (&whole)[kClasses],
                            int gathered_by_whole) {
    if constexpr (kNumbers) {
      sum_of_cells += square_of((float)n[0], (float)n[kClasses - 1]);
      return;
    }
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
    for (int q = 0; q < kClasses; ++q) sum_of_cells += information_of(x[q], x[q] * factor * reciprocal(of_whole[q]));
  };

  // A thread to a member of the prefix: its maximum so far, less its gain in the prefix.
  if ((int)threadIdx.x < kPrefix) {
    const int j = threadIdx.x;
    float of_member = 0;
#pragma unroll 1
    for (int cell = 0; cell < (kNumbers ? 0 : prefix.cells()); ++cell) {
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

  // Adds the information of the variable in a cell, which may gather several cells of the prefix.
  const auto add_information = [&](float& sum_of_cells, const int (&levels)[kPrefixRoom], int gathered, bool keep,
                                   i64 cell) {
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
          if (kLogarithms) row_factors[margins.factor_place(batch, cell, level, q) + in_part] = sum * reciprocal(x);
        }
        if (keep && !is_row && level > 0) cell_columns[margins.column_place(batch, cell, level, q) + in_part] = n[q];
      }
      if (!kLogarithms && !kNumbers && keep && is_row) {
        const float n_0 = fmaf((float)gathered, pseudo[0], (float)n[0]), n_1 = sum - n_0;
        const float share = n_0 * reciprocal(fmaxf(sum, 1e-12f));
        // One class only: no division adds information.
        const float2 bound = fminf(n_0, n_1) > 0.0f ? divergence_bound(sum, share) : make_float2(0.0f, 0.0f);
        float* factors = row_factors + margins.factor_place(batch, cell, level, 0) + in_part;
        factors[0] = share;
        factors[batch.n_rows] = bound.x;
        factors[2 * batch.n_rows] = bound.y;
      }
      add_part(sum_of_cells, n, gathered, whole, gathered * n_levels);
    }
  };
  float sum_of_cells = 0, asked_for = kEveryMember ? -kNever : kNever;
#pragma unroll 1
  for (int cell = 0; cell < prefix.cells(); ++cell) {
    int levels[kPrefixRoom];
    prefix.levels_of(cell, levels);
    add_information(sum_of_cells, levels, others, true, (i64)blockIdx.y * prefix.cells() + cell);
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
      if (level_of_member == 0) add_information(without, levels, others * levels_of_member, false, 0);
    }
    if (kNumbers) without = sum_bound.lower(without);
    asked_for = of_both(asked_for, least_of[j] + without);
  }
  const i64 place = (i64)blockIdx.y * (batch.n_rows + batch.n_columns) + variable;
  information[place] = kNumbers ? sum_bound.lower(sum_of_cells) : sum_of_cells;
  rest[place] = tile.only_last_counts ? kNever : asked_for;
}
