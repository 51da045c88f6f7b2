// a prefix → the samples of its cells, the counts of each variable in them, and their information
//
// Done by all threads of a block together, once for a prefix and the variables of a piece.
#pragma once

#include "information/gain_bound.cuh"
#include "search/search_piece.cuh"

namespace interplay {

// Samples of each cell of the prefix; and the maxima of its members.
__device__ __forceinline__ void make_masks(const Data& data, const Piece& piece, const Prefix& prefix,
                                           const Shared& shared) {
  const int n_pairs = data.n_steps * 4, n_masks = (piece.cells() + 7) / 8 * 8;
#pragma unroll
  for (int j = 0; j < kPrefix; ++j) {
    if (threadIdx.x == j) shared.prefix_best[j] = best_so_far(data, prefix.positions[j], piece.tile.places[j].group);
  }
  // A warp to a cell, so that its level of each variable is found once.
  for (int cell = threadIdx.x / 32; cell < n_masks; cell += kWarps) {
    const bool exists = cell < piece.cells();
    const u32* plane[kPrefixRoom];
#pragma unroll
    for (int j = 0; j < kPrefix; ++j) {
      const int level = exists ? cell / piece.stride_of(j) % piece.levels_of(j) : 0;
      const i64 row = data.lanes.row(piece.tile.places[j].lane_block, prefix.positions[j], level);
      plane[j] = data.planes + word_index(row, data.n_steps, 0);
    }
    for (int pair = threadIdx.x % 32; pair < n_pairs; pair += 32) {
      const int place = pair / 4 * kWordsPerFragment + pair % 4 * 4;
      uint2 mask = exists ? make_uint2(~0u, ~0u) : make_uint2(0u, 0u);
      if (exists) {
#pragma unroll
        for (int j = 0; j < kPrefix; ++j) {
          mask.x &= plane[j][place];
          mask.y &= plane[j][place + 2];
        }
      }
      shared.masks[cell * n_pairs + pair] = mask;
    }
  }
}

// Counts of the variables in each cell, eight cells to a product.
__device__ __forceinline__ void make_margins(const Data& data, const Piece& piece, const Shared& shared,
                                             const float* class_sizes, const Variables& variables) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane >> 2, t = lane & 3;
  const int n_eights = (piece.cells() + 7) / 8, n_fragments = variables.size() / 16;
  float early[kClasses], early_in_all = 0;
#pragma unroll
  for (int q = 0; q < kClasses; ++q) {
    early[q] = kPseudocountsLast ? 0.0f : data.pseudocounts[q];
    early_in_all += early[q];
  }
  for (int job = warp; job < n_fragments * n_eights; job += kWarps) {
    const int variable = variables[job % n_fragments * 16], eight = job / n_fragments;
    const int n_levels = is_column(variable) ? kColumnLevels : kRowLevels;
    const float gathered = is_column(variable) ? kRowLevels : kColumnLevels;
    for (int level = 1; level < n_levels; ++level) {
      const i64 row = is_column(variable) ? piece.column_plane + (level - 1) * piece.column_stride + variable
                                          : piece.row_plane + (level - 1) * piece.row_stride + variable - kBlockColumns;
      const int plane = margin_plane(variable) + (level - 1) * (is_column(variable) ? kBlockColumns : kBlockRows);
      const uint4* words = reinterpret_cast<const uint4*>(data.planes + word_index(row, data.n_steps, 0)) + lane;
      const uint2* masks = shared.masks + (eight * 8 + g) * data.n_steps * 4 + t;
      u32 in_all[4] = {0, 0, 0, 0}, paired[4] = {0, 0, 0, 0};
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        u32 sums[4] = {0, 0, 0, 0};
#pragma unroll 4
        for (int step = data.class_steps[q]; step < data.class_steps[q + 1]; ++step) {
          add_products(sums, words[step * 32], masks[step * 4], sums);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          in_all[e] += sums[e];
          paired[e] += sums[e] * (q == 0 ? kOneOfClass0 : kOneOfClass1);
          const int cell = eight * 8 + 2 * t + (e & 1);
          if (kPaired) {
            if (q + 1 == kClasses && cell < piece.cells()) {
              shared.margins[cell * kPlanes + plane + g + (e >> 1) * 8] = __uint_as_float(paired[e]);
            }
          } else if (cell < piece.cells()) {
            shared.margins[(cell * kPlanes + plane + g + (e >> 1) * 8) * kClasses + q] =
                q + 1 < kClasses ? fmaf(gathered, early[q], (float)sums[e])
                                 : fmaf(gathered, early_in_all, (float)in_all[e]);
          }
        }
      }
    }
  }
  for (int cell = warp; kPaired && cell < piece.cells(); cell += kWarps) {
    u32 sum = 0;
    for (int i = lane; i < data.n_steps * 4; i += 32) {
      const uint2 mask = shared.masks[cell * data.n_steps * 4 + i];
      sum += (__popc(mask.x) + __popc(mask.y)) * (i < data.class_steps[1] * 4 ? kOneOfClass0 : kOneOfClass1);
    }
    sum = sum_over_warp(sum);
    if (kPrefix == 0) sum = (u32)class_sizes[0] * kOneOfClass0 + (u32)class_sizes[kClasses - 1] * kOneOfClass1;
    if (lane == 0) shared.totals[cell] = __uint_as_float(sum);
  }
  for (int job = warp; !kPaired && job < piece.cells() * kClasses; job += kWarps) {
    const int cell = job / kClasses, q = job % kClasses;
    u32 sum = 0;
    for (int i = data.class_steps[q] * 4 + lane; i < data.class_steps[q + 1] * 4; i += 32) {
      const uint2 mask = shared.masks[cell * data.n_steps * 4 + i];
      sum += __popc(mask.x) + __popc(mask.y);
    }
    sum = sum_over_warp(sum);
    // Without a prefix there is one cell, whose mask is all ones, padding included.
    const float early_of_class = kPseudocountsLast ? 0.0f : data.pseudocounts[q];
    if (lane == 0) {
      shared.totals[job] =
          fmaf((float)(kRowLevels * kColumnLevels), early_of_class, kPrefix > 0 ? (float)sum : class_sizes[q]);
    }
  }
}

// The paired counts at a level of a variable in a cell. plane: of its level 1; step: to its next level
template <int kLevels>
__device__ __forceinline__ u32 paired_level_counts(const Shared& shared, int cell, int plane, int step, int level) {
  const float* margin = shared.margins + cell * kPlanes + plane;
  if (level > 0) return __float_as_uint(margin[(level - 1) * step]);
  u32 left = __float_as_uint(shared.totals[cell]);  // by the other levels
#pragma unroll
  for (int a = 1; a < kLevels; ++a) left -= __float_as_uint(margin[(a - 1) * step]);
  return left;
}

// Counts by class at a level of a variable in a cell, as the margins have them, with pseudocounts or without.
template <int kLevels>
__device__ __forceinline__ void level_counts(const Shared& shared, int cell, int plane, int step, int level,
                                             float (&counts)[kClasses]) {
  if (kPaired) {
    const u32 both = paired_level_counts<kLevels>(shared, cell, plane, step, level);
    const u32 upper = both >> 16, lower = both & 0xFFFF;
    counts[0] = (float)(kTable ? upper / 2 : upper);
    counts[kClasses - 1] = (float)(kTable ? lower / 2 : lower - upper);
    return;
  }
  const float* margin = shared.margins + (cell * kPlanes + plane) * kClasses;
  if (level > 0) {
    margin += (level - 1) * step * kClasses;
#pragma unroll
    for (int q = 0; q < kClasses; ++q) counts[q] = margin[q];
  } else {
    // The cell, less the other levels.
    float in_all = 0;
#pragma unroll
    for (int q = 0; q < kClasses; ++q) {
      counts[q] = shared.totals[cell * kClasses + q];
      in_all += counts[q];
    }
    counts[kClasses - 1] = in_all;
#pragma unroll
    for (int a = 1; a < kLevels; ++a) {
#pragma unroll
      for (int q = 0; q < kClasses; ++q) counts[q] -= margin[(a - 1) * step * kClasses + q];
    }
  }
  // In place of the last class stands the sum of all.
#pragma unroll
  for (int q = 0; q + 1 < kClasses; ++q) counts[kClasses - 1] -= counts[q];
}

// others: levels of the variable that is left out, whose pseudocounts a cell gathers
__device__ __forceinline__ void add_pseudocounts_last(float (&counts)[kClasses], const float (&pseudo)[kClasses],
                                                      int others) {
  if (!kPseudocountsLast) return;
#pragma unroll
  for (int q = 0; q < kClasses; ++q) counts[q] += others * pseudo[q];
}

// The summand of F of a cell with these counts.
__device__ __forceinline__ float information_of(const float (&counts)[kClasses], float2 inverse_shares) {
  if (kTable) return information_of_counts(counts[0], counts[kClasses - 1], inverse_shares);
  float sum = 0, n = 0;
#pragma unroll
  for (int q = 0; q < kClasses; ++q) {
    sum += x_log_x(counts[q]);
    n += counts[q];
  }
  return sum - x_log_x(n);
}

// F(prefix, variable), and the threshold of the members v of the prefix, F(prefix but v, variable) + v's maximum: the
// least over all v or, where every member must gain, the largest. With a table, all F lack the same constant
// (small_cells.cuh). others: levels of the last variable that is left out
// Loops are kept short on purpose: unrolled, they drive the loop that matters out of the instruction cache.
template <int kLevels>
__device__ __forceinline__ void find_informations(const Piece& piece, const Shared& shared,
                                                  const float (&pseudo)[kClasses], float2 inverse_shares, int plane,
                                                  int step, int others, float* information, float* rest) {
  float sum = 0;
  // Cell by cell, and then these: so few numbers are added up in a row.
#pragma unroll 1
  for (int cell = 0; cell < piece.cells(); ++cell) {
    float of_cell = 0;
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {
      float counts[kClasses];
      level_counts<kLevels>(shared, cell, plane, step, level, counts);
      add_pseudocounts_last(counts, pseudo, others);
      of_cell += information_of(counts, inverse_shares);
    }
    sum += of_cell;
  }
  *information = sum;
  float asked_for = kEveryMember ? -kNever : kNever;
#pragma unroll 1
  for (int j = 0; j < kPrefix; ++j) {
    const int stride = piece.stride_of(j), n_levels = piece.levels_of(j);
    float without = 0;
#pragma unroll 1
    for (int cell = 0; cell < piece.cells(); ++cell) {
      if (cell / stride % n_levels != 0) continue;
      float of_cell = 0;
#pragma unroll
      for (int level = 0; level < kLevels; ++level) {
        float merged[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) merged[q] = 0;
#pragma unroll
        for (int a = 0; a < n_levels; ++a) {
          float counts[kClasses];
          level_counts<kLevels>(shared, cell + a * stride, plane, step, level, counts);
#pragma unroll
          for (int q = 0; q < kClasses; ++q) merged[q] += counts[q];
        }
        add_pseudocounts_last(merged, pseudo, others * n_levels);
        of_cell += information_of(merged, inverse_shares);
      }
      without += of_cell;
    }
    asked_for = of_both(asked_for, shared.prefix_best[j] + without);
  }
  *rest = asked_for;
}

// Information, maximum and threshold of each variable, for the bound.
__device__ __forceinline__ void make_informations(const Data& data, const Piece& piece, const Shared& shared,
                                                  const Variables& variables) {
  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = data.pseudocounts[q];
  for (int i = threadIdx.x; i < variables.size(); i += kThreads) {
    const int variable = variables[i], plane = margin_plane(variable);
    const int step = is_column(variable) ? kBlockColumns : kBlockRows;
    const Place& place = is_column(variable) ? piece.columns() : piece.rows();
    const int position =
        is_column(variable) ? piece.first_column + variable : piece.first_row + variable - kBlockColumns;
    float information, rest;
    if (kRowLevels == kColumnLevels || is_column(variable)) {
      find_informations<kColumnLevels>(piece, shared, pseudo, data.inverse_shares, plane, step, kRowLevels,
                                       &information, &rest);
    } else {
      find_informations<kRowLevels>(piece, shared, pseudo, data.inverse_shares, plane, step, kColumnLevels,
                                    &information, &rest);
    }
    const bool counts =
        position >= place.begin && position < place.end && (is_column(variable) || !piece.tile.only_last_counts);
    shared.information[variable] = information;
    shared.best[variable] = counts ? best_so_far(data, position, place.group) : kNever;
    shared.rest[variable] = counts ? rest : kNever;
  }
}

}  // namespace interplay
