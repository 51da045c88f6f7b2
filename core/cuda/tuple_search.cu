// tiles → the tuples that may raise a maximum
//
// For every tuple (prefix, l, m) of a tile the counts of its cells come from binary matrix products, a product for each
// cell of the prefix, and the gain of m is bounded from above without logarithms (gain_bound.cuh). Gains of the other
// members follow from it, since all gains of a tuple differ by informations of its sub-tuples: with F(S) the information
// of S,
//     gain(v) = F(prefix, l) + gain(m) − F(all but v),
// where F(all but l) = F(prefix, m) is known, and F(all but v) for a v of the prefix is at least that of its parts
// with l or with m alone. Tuples for which no member can reach its maximum so far are dropped, all but a few in a million
// where most variables are noise; the rest are scored exactly by information_gain.cu.
//
// Bottleneck: floating-point arithmetic, about 20 operations for four cells; the tensor cores are busy a third of that.
// Limits: 2^23 samples in a class, since counts are read as floats.
//
// Compiled once for each combination of
//   DIMENSIONS          members of a tuple, at least 2
//   ROW_LEVELS          levels of the last variable but one (l)
//   COLUMN_LEVELS       levels of the last variable (m)
//   CLASSES             decision classes
//   ROW_FRAGMENTS       of 16 rows, that a warp takes at a time
//   COLUMN_FRAGMENTS    of 8 columns
//   CELLS_AT_ONCE       cells of the prefix that are counted together
//   BLOCK_ROWS, BLOCK_COLUMNS
// and, where they are defined, INTERPLAY_TENSOR_CORES, SMALL_CELLS_NEED_CARE (see below).
#include "gain_bound.cuh"
#include "tuple_counts.cuh"
#include "tuple_tiles.cuh"

namespace interplay {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kDimensions = DIMENSIONS, kPrefix = DIMENSIONS - 2, kPrefixRoom = kPrefix > 0 ? kPrefix : 1;
constexpr int kRowLevels = ROW_LEVELS, kColumnLevels = COLUMN_LEVELS, kClasses = CLASSES;
constexpr int kRowFragments = ROW_FRAGMENTS, kColumnFragments = COLUMN_FRAGMENTS, kCellsAtOnce = CELLS_AT_ONCE;
constexpr int kBlockRows = BLOCK_ROWS, kBlockColumns = BLOCK_COLUMNS;
constexpr int kWarpRows = 16 * kRowFragments, kWarpColumns = 8 * kColumnFragments;
// Planes of the variables of a piece: every level but 0, which is what the others leave.
constexpr int kRowPlanes = (kRowLevels - 1) * kBlockRows, kColumnPlanes = (kColumnLevels - 1) * kBlockColumns;
constexpr int kPlanes = kRowPlanes + kColumnPlanes;
// Per cell and row, for each level of l. Two classes: the samples, the share of class 0, and A and B of the bound. More
// classes: the samples of each, and their information.
constexpr int kLevelFloats = kClasses == 2 ? 4 : kClasses + 1;
constexpr int kRowFloats = kRowLevels * kLevelFloats;
// Per cell and column, for each level of m but 0: samples by class and in all, the last class left out.
constexpr int kColumnFloats = (kColumnLevels - 1) * kClasses;
// Products of the tensor cores start from 2^23: their bits then are those of the float 2^23 + count.
constexpr u32 kMagicBits = 0x4B000000u;
constexpr float kMagic = 8388608.0f;
constexpr float kNever = 1e30f;

// What the threads of a block share while they work on a piece.
struct Shared {
  uint2* masks;    // [n_cells rounded up to 8][n_steps][4]: samples of each cell of the prefix
  float* margins;  // [n_cells][kClasses][kPlanes]: counts of each variable in each cell
  float* totals;   // [n_cells][kClasses]
  float* rows;     // [n_cells][kBlockRows][kRowFloats]
  float* columns;  // [n_cells][kBlockColumns][kColumnFloats]
  // By row and by column: F(prefix, variable), the variable's maximum so far, and the least that all but a member of the
  // prefix tell, plus that member's maximum.
  float *row_information, *row_best, *row_rest;
  float *column_information, *column_best, *column_rest;

  __device__ Shared(unsigned char* memory, int n_cells, int n_steps) {
    const int n_masks = (n_cells + 7) / 8 * 8;
    masks = reinterpret_cast<uint2*>(memory);
    rows = reinterpret_cast<float*>(masks + n_masks * n_steps * 4);
    columns = rows + n_cells * kBlockRows * kRowFloats;
    margins = columns + n_cells * kBlockColumns * kColumnFloats;
    totals = margins + n_cells * kClasses * kPlanes;
    row_information = totals + n_cells * kClasses;
    row_best = row_information + kBlockRows;
    row_rest = row_best + kBlockRows;
    column_information = row_rest + kBlockRows;
    column_best = column_information + kBlockColumns;
    column_rest = column_best + kBlockColumns;
  }
};

struct Data {
  const uint2* planes;
  int n_steps;
  const int* class_steps;  // [kClasses + 1]
  LaneBlocks lanes;
  const double* best;  // [row * n_groups + group], by position
  int n_groups;
  const float* pseudocounts;  // [kClasses], of a cell of the whole tuple
};

// A piece of work: some rows and columns of a tile, for one prefix.
struct Piece {
  Tile<kDimensions> tile;
  int first_row, first_column;  // positions; may lie before the tile's first, since fragments are aligned
  i64 row_plane, column_plane;  // rows of the planes of level 1
  int prefix[kPrefixRoom], prefix_levels[kPrefixRoom], cell_stride[kPrefixRoom];
  float prefix_best[kPrefixRoom];
  int n_cells;
};

// Position of the last variable of the prefix.
__device__ __forceinline__ int last_of(const Piece& piece) { return kPrefix > 0 ? piece.prefix[kPrefixRoom - 1] : -1; }

__device__ __forceinline__ float best_so_far(const Data& data, int position, int group) {
  return __double2float_rd(data.best[(i64)position * data.n_groups + group]);
}

// Samples of each cell of the prefix.
__device__ void make_masks(const Data& data, const Piece& piece, const Shared& shared) {
  const int n_words = data.n_steps * 4, n_masks = (piece.n_cells + 7) / 8 * 8;
  for (int i = threadIdx.x; i < n_masks * n_words; i += kThreads) {
    const int cell = i / n_words, word = i % n_words;
    uint2 mask = cell < piece.n_cells ? make_uint2(~0u, ~0u) : make_uint2(0u, 0u);
    if (cell < piece.n_cells) {
#pragma unroll
      for (int j = 0; j < kPrefix; ++j) {
        const int level = cell / piece.cell_stride[j] % piece.prefix_levels[j];
        const i64 row = data.lanes.row(piece.tile.places[j].lane_block, piece.prefix[j], level);
        mask = mask & data.planes[fragment_index(row, data.n_steps, word / 4, word % 4)];
      }
    }
    shared.masks[i] = mask;
  }
}

// Counts of each variable in each cell, eight cells to a product.
__device__ void make_margins(const Data& data, const Piece& piece, const Shared& shared, const float* class_sizes) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane >> 2, t = lane & 3;
  constexpr int kFragments = kPlanes / 16;
  const int n_eights = (piece.n_cells + 7) / 8;
  for (int job = warp; job < kFragments * n_eights; job += kWarps) {
    const int first = job % kFragments * 16, eight = job / kFragments;
    // Planes by level, then by variable: as they lie in a lane block, whose levels may be further apart.
    i64 row;
    if (first < kRowPlanes) {
      const int level = first / kBlockRows;
      row = piece.row_plane + (i64)level * data.lanes.rows_per_level[piece.tile.places[kPrefix].lane_block] +
            first % kBlockRows;
    } else {
      const int level = (first - kRowPlanes) / kBlockColumns;
      row = piece.column_plane + (i64)level * data.lanes.rows_per_level[piece.tile.places[kPrefix + 1].lane_block] +
            (first - kRowPlanes) % kBlockColumns;
    }
    const uint2* low = data.planes + fragment_index(row, data.n_steps, 0, 0) + lane;
    const uint2* high = low + data.n_steps * 32;
    const uint2* masks = shared.masks + (eight * 8 + g) * data.n_steps * 4 + t;
#pragma unroll
    for (int q = 0; q < kClasses; ++q) {
      u32 sums[4] = {0, 0, 0, 0};
      for (int step = data.class_steps[q]; step < data.class_steps[q + 1]; ++step) {
        add_products(sums, low[step * 32], high[step * 32], masks[step * 4]);
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int cell = eight * 8 + 2 * t + (e & 1);
        if (cell < piece.n_cells) {
          shared.margins[(cell * kClasses + q) * kPlanes + first + g + (e >> 1) * 8] = (float)sums[e];
        }
      }
    }
  }
  for (int job = warp; job < piece.n_cells * kClasses; job += kWarps) {
    const int cell = job / kClasses, q = job % kClasses;
    u32 sum = 0;
    for (int i = data.class_steps[q] * 4 + lane; i < data.class_steps[q + 1] * 4; i += 32) {
      const uint2 mask = shared.masks[cell * data.n_steps * 4 + i];
      sum += __popc(mask.x) + __popc(mask.y);
    }
    sum = sum_over_warp(sum);
    // Without a prefix there is one cell, whose mask is all ones, padding included.
    if (lane == 0) shared.totals[job] = kPrefix > 0 ? (float)sum : class_sizes[q];
  }
}

// Count of class q at a level of a variable in a cell; planes are numbered from the variable's level 1.
template <int kLevels, int kStride>
__device__ __forceinline__ float level_count(const Shared& shared, int cell, int q, int plane, int level) {
  const float* margin = shared.margins + (cell * kClasses + q) * kPlanes + plane;
  if (level > 0) return margin[(level - 1) * kStride];
  float rest = shared.totals[cell * kClasses + q];
#pragma unroll
  for (int a = 1; a < kLevels; ++a) rest -= margin[(a - 1) * kStride];
  return rest;
}

// F(prefix, variable), and the least over the members v of the prefix of F(prefix but v, variable) + v's maximum.
// others: levels of the last variable that is left out, whose pseudocounts a cell gathers
template <int kLevels, int kStride>
__device__ void make_informations(const Data& data, const Piece& piece, const Shared& shared, int plane, int others,
                                  float* information, float* rest) {
  float sum = 0;
  for (int cell = 0; cell < piece.n_cells; ++cell) {
    for (int level = 0; level < kLevels; ++level) {
      float n = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        const float n_q = level_count<kLevels, kStride>(shared, cell, q, plane, level) + others * data.pseudocounts[q];
        sum += x_log_x(n_q);
        n += n_q;
      }
      sum -= x_log_x(n);
    }
  }
  *information = sum;
  float least = kNever;
#pragma unroll
  for (int j = 0; j < kPrefix; ++j) {
    const int stride = piece.cell_stride[j], n_levels = piece.prefix_levels[j];
    float without = 0;
    for (int cell = 0; cell < piece.n_cells; ++cell) {
      if (cell / stride % n_levels != 0) continue;
      for (int level = 0; level < kLevels; ++level) {
        float n = 0;
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          float n_q = others * n_levels * data.pseudocounts[q];
          for (int a = 0; a < n_levels; ++a) {
            n_q += level_count<kLevels, kStride>(shared, cell + a * stride, q, plane, level);
          }
          without += x_log_x(n_q);
          n += n_q;
        }
        without -= x_log_x(n);
      }
    }
    least = fminf(least, piece.prefix_best[j] + without);
  }
  *rest = least;
}

// The numbers of each cell and row, cell and column, row, and column that the bound is made of.
__device__ void make_parts(const Data& data, const Piece& piece, const Shared& shared) {
  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = data.pseudocounts[q];
  for (int i = threadIdx.x; i < piece.n_cells * kBlockRows; i += kThreads) {
    const int cell = i / kBlockRows, row = i % kBlockRows;
    float* part = shared.rows + i * kRowFloats;
#pragma unroll
    for (int level = 0; level < kRowLevels; ++level, part += kLevelFloats) {
      float counts[kClasses], n = 0, all = 0, information = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        const float count = level_count<kRowLevels, kBlockRows>(shared, cell, q, row, level);
        n += count;
        counts[q] = count + kColumnLevels * pseudo[q];
        all += counts[q];
        information += x_log_x(counts[q]);
      }
      if (kClasses == 2) {
        const float share = counts[0] / fmaxf(all, 1e-12f);
        const float2 factors = divergence_bound(share);
        // Both parts of a division into two have the same |x|: x²/u + x²/v = x²·n/(u·v).
        const float scale = kColumnLevels == 2 ? all : 1.0f;
#ifdef SMALL_CELLS_NEED_CARE
        part[0] = n;  // whole numbers are subtracted exactly, and pseudocounts added afterwards
#else
        part[0] = all;
#endif
        part[1] = share;
        part[2] = factors.x * scale;
        part[3] = factors.y * scale;
      } else {
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
#ifdef SMALL_CELLS_NEED_CARE
          part[q] = counts[q] - kColumnLevels * pseudo[q];
#else
          part[q] = counts[q];
#endif
        }
        part[kClasses] = information - x_log_x(all);
      }
    }
  }
  for (int i = threadIdx.x; i < piece.n_cells * kBlockColumns; i += kThreads) {
    const int cell = i / kBlockColumns, column = i % kBlockColumns;
    float* part = shared.columns + i * kColumnFloats;
#pragma unroll
    for (int level = 1; level < kColumnLevels; ++level, part += kClasses) {
      float n = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        float count = level_count<kColumnLevels, kBlockColumns>(shared, cell, q, kRowPlanes + column, level);
#ifndef SMALL_CELLS_NEED_CARE
        count += kRowLevels * pseudo[q];
#endif
        if (q + 1 < kClasses) part[q] = count;
        n += count;
      }
      part[kClasses - 1] = n;
    }
  }
  const Place& row_place = piece.tile.places[kPrefix];
  const Place& column_place = piece.tile.places[kPrefix + 1];
  for (int i = threadIdx.x; i < kBlockRows + kBlockColumns; i += kThreads) {
    float information, rest;
    if (i < kBlockRows) {
      make_informations<kRowLevels, kBlockRows>(data, piece, shared, i, kColumnLevels, &information, &rest);
      const int position = piece.first_row + i;
      const bool is_in = position >= row_place.begin && position < row_place.end;
      const bool counts = is_in && !piece.tile.only_last_counts;
      shared.row_information[i] = information;
      shared.row_best[i] = counts ? best_so_far(data, position, row_place.group) : kNever;
      shared.row_rest[i] = counts ? rest : kNever;
    } else {
      const int column = i - kBlockRows, position = piece.first_column + column;
      make_informations<kColumnLevels, kBlockColumns>(data, piece, shared, kRowPlanes + column, kRowLevels,
                                                      &information, &rest);
      const bool is_in = position >= column_place.begin && position < column_place.end;
      shared.column_information[column] = information;
      shared.column_best[column] = is_in ? best_so_far(data, position, column_place.group) : kNever;
      shared.column_rest[column] = is_in ? rest : kNever;
    }
  }
}

// The counts of one tuple in one cell of the prefix, as products by class and levels of l and m.
struct CellCounts {
  u32 products[kClasses][(kRowLevels - 1) * (kColumnLevels - 1)];

  __device__ __forceinline__ float operator()(int q, int row_level, int column_level) const {
    return __uint_as_float(products[q][(row_level - 1) * (kColumnLevels - 1) + column_level - 1]) - kMagic;
  }
};

// Parts are never empty where there are pseudocounts; without them, care is taken.
__device__ __forceinline__ float not_zero(float size) {
#ifdef SMALL_CELLS_NEED_CARE
  return fmaxf(size, 1e-24f);
#else
  return size;
#endif
}

// The bound on the gain of m from one cell of the prefix, for one tuple and two classes.
// row: kRowFloats of the cell and row; column: kColumnFloats of the cell and column
__device__ __forceinline__ float bound_of_two_classes(const CellCounts& counts, const float* row, const float* column,
                                                      const float (&pseudo)[kClasses]) {
#ifdef SMALL_CELLS_NEED_CARE
  const float after_0 = pseudo[0], after_1 = pseudo[kClasses - 1], after = after_0 + after_1;
#endif
  // What level 0 of l has of each level of m: what the other levels leave of it.
  float left_0[kColumnLevels - 1], left[kColumnLevels - 1];
#pragma unroll
  for (int b = 0; b < kColumnLevels - 1; ++b) {
    left_0[b] = column[b * kClasses];
    left[b] = column[b * kClasses + 1];
  }
  float bound = 0;
#pragma unroll
  for (int a = kRowLevels - 1; a >= 0; --a) {
    const float* part = row + a * kLevelFloats;
    float rest = part[0], excess = 0, u = 1, sum = 0;
#pragma unroll
    for (int b = 0; b < kColumnLevels - 1; ++b) {
      float n_0, n;
      if (a > 0) {
        n_0 = counts(0, a, b + 1);
        float n_1 = counts(1, a, b + 1);
#ifndef SMALL_CELLS_NEED_CARE
        n_0 += pseudo[0];
        n_1 += pseudo[kClasses - 1];
#endif
        n = n_0 + n_1;
        left_0[b] -= n_0;
        left[b] -= n;
      } else {
        n_0 = left_0[b];
        n = left[b];
      }
      rest -= n;
#ifdef SMALL_CELLS_NEED_CARE
      n_0 += after_0;
      n += after;
#endif
      u = n;
      const float x = fmaf(-part[1], u, n_0);
      excess += x;
      if (kColumnLevels > 2) {
        const float deviation = x * reciprocal(not_zero(u));
        sum = fmaf(x * deviation, fmaf(part[3], fabsf(deviation), part[2]), sum);
      }
    }
#ifdef SMALL_CELLS_NEED_CARE
    rest += after;
#endif
    if (kColumnLevels == 2) {
      const float scaled = excess * reciprocal(not_zero(u * rest));
      const float deviation = fabsf(scaled) * fmaxf(u, rest);  // the larger of both
      bound = fmaf(excess * scaled, fmaf(part[3], deviation, part[2]), bound);
    } else {
      const float deviation = excess * reciprocal(not_zero(rest));
      bound += fmaf(excess * deviation, fmaf(part[3], fabsf(deviation), part[2]), sum);
    }
  }
  return bound;
}

// The same for more classes, by logarithms.
__device__ __forceinline__ float gain_of_cell(const CellCounts& counts, const float* row, const float* column,
                                              const float (&pseudo)[kClasses]) {
  float left[kColumnLevels - 1][kClasses];
#pragma unroll
  for (int b = 0; b < kColumnLevels - 1; ++b) {
    float others = 0;
#pragma unroll
    for (int q = 0; q + 1 < kClasses; ++q) {
      left[b][q] = column[b * kClasses + q];
      others += left[b][q];
    }
    left[b][kClasses - 1] = column[b * kClasses + kClasses - 1] - others;
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
    for (int b = 0; b < kColumnLevels; ++b) {  // level 0 of m comes last: what the others leave
      float n = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        float count;
        if (b + 1 == kColumnLevels) {
          count = rest[q];
        } else if (a > 0) {
          count = counts(q, a, b + 1);
#ifndef SMALL_CELLS_NEED_CARE
          count += pseudo[q];
#endif
          left[b][q] -= count;
        } else {
          count = left[b][q];
        }
        rest[q] -= count;
#ifdef SMALL_CELLS_NEED_CARE
        count += pseudo[q];
#endif
        gain += x_log_x(count);
        n += count;
      }
      gain -= x_log_x(n);
    }
  }
  return gain;
}

struct Survivors {
  int* tuples;  // [capacity][1 + kDimensions]: number of the tile, positions
  u32* n_found;
  u32 capacity;
};

// All tuples of a warp's part of a piece: count, bound, keep what may matter.
__device__ __forceinline__ void search_part(const Data& data, const Piece& piece, const Shared& shared, int tile_number,
                                            int part_row, int part_column, float tolerance, float shrink,
                                            const Survivors& survivors) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  constexpr int kProducts = (kRowLevels - 1) * (kColumnLevels - 1);
  const i64 row_stride = (i64)data.lanes.rows_per_level[piece.tile.places[kPrefix].lane_block] / 8 * data.n_steps * 32;
  const i64 column_stride =
      (i64)data.lanes.rows_per_level[piece.tile.places[kPrefix + 1].lane_block] / 8 * data.n_steps * 32;
  const uint2* row_planes = data.planes + fragment_index(piece.row_plane + part_row, data.n_steps, 0, 0) + lane;
  const uint2* column_planes =
      data.planes + fragment_index(piece.column_plane + part_column, data.n_steps, 0, 0) + lane;
  const int fragment_stride = data.n_steps * 32;

  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = data.pseudocounts[q];
  float bound[kRowFragments][kColumnFragments][4];
#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int j = 0; j < kColumnFragments; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) bound[i][j][e] = 0;

  for (int cell = 0; cell < piece.n_cells; cell += kCellsAtOnce) {
    u32 sums[kCellsAtOnce][kClasses][kProducts][kRowFragments][kColumnFragments][4];
#pragma unroll
    for (int c = 0; c < kCellsAtOnce; ++c)
#pragma unroll
      for (int q = 0; q < kClasses; ++q)
#pragma unroll
        for (int ab = 0; ab < kProducts; ++ab)
#pragma unroll
          for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
            for (int j = 0; j < kColumnFragments; ++j)
#pragma unroll
              for (int e = 0; e < 4; ++e) sums[c][q][ab][i][j][e] = kMagicBits;
#pragma unroll
    for (int q = 0; q < kClasses; ++q) {
      const int end = data.class_steps[q + 1];
#pragma unroll 2
      for (int step = data.class_steps[q]; step < end; ++step) {
        uint2 low[kRowLevels - 1][kRowFragments], high[kRowLevels - 1][kRowFragments];
#pragma unroll
        for (int a = 0; a < kRowLevels - 1; ++a)
#pragma unroll
          for (int i = 0; i < kRowFragments; ++i) {
            const uint2* from = row_planes + a * row_stride + 2 * i * fragment_stride + step * 32;
            low[a][i] = from[0];
            high[a][i] = from[fragment_stride];
          }
        uint2 right[kColumnLevels - 1][kColumnFragments];
#pragma unroll
        for (int b = 0; b < kColumnLevels - 1; ++b)
#pragma unroll
          for (int j = 0; j < kColumnFragments; ++j) {
            right[b][j] = column_planes[b * column_stride + j * fragment_stride + step * 32];
          }
#pragma unroll
        for (int c = 0; c < kCellsAtOnce; ++c) {
          uint2 mask = make_uint2(~0u, ~0u);
          if (kPrefix > 0) mask = shared.masks[((cell + c) * data.n_steps + step) * 4 + t];
#pragma unroll
          for (int b = 0; b < kColumnLevels - 1; ++b)
#pragma unroll
            for (int j = 0; j < kColumnFragments; ++j) {
              const uint2 masked = right[b][j] & mask;
#pragma unroll
              for (int a = 0; a < kRowLevels - 1; ++a)
#pragma unroll
                for (int i = 0; i < kRowFragments; ++i) {
                  add_products(sums[c][q][a * (kColumnLevels - 1) + b][i][j], low[a][i], high[a][i], masked);
                }
            }
        }
      }
    }
#pragma unroll
    for (int c = 0; c < kCellsAtOnce; ++c) {
      if (kCellsAtOnce > 1 && cell + c >= piece.n_cells) break;
#pragma unroll
      for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = part_row + i * 16 + half * 8 + g;
          const float* row_part = shared.rows + ((cell + c) * kBlockRows + row) * kRowFloats;
          float row_numbers[kRowFloats];
#pragma unroll
          for (int f = 0; f < kRowFloats; ++f) row_numbers[f] = row_part[f];
#pragma unroll
          for (int j = 0; j < kColumnFragments; ++j)
#pragma unroll
            for (int side = 0; side < 2; ++side) {
              const int column = part_column + j * 8 + 2 * t + side, e = half * 2 + side;
              const float* column_part = shared.columns + ((cell + c) * kBlockColumns + column) * kColumnFloats;
              CellCounts counts;
#pragma unroll
              for (int q = 0; q < kClasses; ++q)
#pragma unroll
                for (int ab = 0; ab < kProducts; ++ab) counts.products[q][ab] = sums[c][q][ab][i][j][e];
              bound[i][j][e] += kClasses == 2 ? bound_of_two_classes(counts, row_numbers, column_part, pseudo)
                                              : gain_of_cell(counts, row_numbers, column_part, pseudo);
            }
        }
    }
  }

#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = part_row + i * 16 + half * 8 + g;
      const float row_information = shared.row_information[row], row_best = shared.row_best[row];
      const float row_rest = shared.row_rest[row];
#pragma unroll
      for (int j = 0; j < kColumnFragments; ++j)
#pragma unroll
        for (int side = 0; side < 2; ++side) {
          const int column = part_column + j * 8 + 2 * t + side;
          const float others = fminf(row_best + shared.column_information[column],
                                     fmaxf(row_rest, shared.column_rest[column])) - row_information;
          const float needed = fminf(shared.column_best[column], others);
          if (bound[i][j][half * 2 + side] < (needed - tolerance) * shrink) continue;
          const int l = piece.first_row + row, m = piece.first_column + column;
          const Place& rows = piece.tile.places[kPrefix];
          const Place& columns = piece.tile.places[kPrefix + 1];
          if (l < rows.begin || l >= rows.end || m < columns.begin || m >= columns.end || l >= m) continue;
          if (last_of(piece) >= l) continue;
          const u32 place = atomicAdd(survivors.n_found, 1u);
          if (place >= survivors.capacity) continue;
          int* tuple = survivors.tuples + (i64)place * (1 + kDimensions);
          tuple[0] = tile_number;
#pragma unroll
          for (int v = 0; v < kPrefix; ++v) tuple[1 + v] = piece.prefix[v];
          tuple[1 + kPrefix] = l;
          tuple[2 + kPrefix] = m;
        }
    }
}

}  // namespace interplay

using namespace interplay;

// Runs of `items_per_run` items are taken in a scattered order, so that maxima of all variables rise early.
extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS_PER_MULTIPROCESSOR) find_survivors(
    const uint2* planes, int n_steps, const int* class_steps, const float* class_sizes, const float* pseudocounts,
    const int* lane_first, const int* lane_levels, const int* lane_rows, const i64* lane_row, const double* best,
    int n_groups, const Tile<kDimensions>* tiles, const i64* item_start, int n_tiles, i64 n_items, int prefixes_per_item,
    i64 items_per_run, i64 first_run, i64 end_run, i64 n_runs, i64 run_stride, u64* next_run, int max_cells,
    float tolerance, float shrink, int* survivor_tuples, u32* n_survivors, u32 capacity) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Piece piece;
  __shared__ i64 taken_run, tile_at;
  __shared__ int piece_is_empty;
  const Data data = {planes, n_steps, class_steps, {lane_first, lane_levels, lane_rows, lane_row}, best, n_groups,
                     pseudocounts};
  const Shared shared(memory, max_cells, n_steps);
  const Survivors survivors = {survivor_tuples, n_survivors, capacity};
  const int warp = threadIdx.x / 32;

  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const i64 run = first_run + (i64)atomicAdd(next_run, 1ull);
      // A buffer that overflows has to be searched again in any case.
      taken_run = run < end_run && *(volatile u32*)n_survivors <= capacity ? (i64)((u64)run * run_stride % n_runs) : -1;
      if (taken_run >= 0) {
        const i64 item = taken_run * items_per_run;
        i64 low = 0, high = n_tiles;  // the last tile that starts at or before the item
        while (high - low > 1) {
          const i64 middle = (low + high) / 2;
          (item_start[middle] <= item ? low : high) = middle;
        }
        tile_at = low;
      }
    }
    __syncthreads();
    if (taken_run < 0) return;
    const i64 run_end = min((taken_run + 1) * items_per_run, n_items);
    i64 tile_number = tile_at;
    for (i64 item = taken_run * items_per_run; item < run_end; ++item) {
      while (item >= item_start[tile_number + 1]) ++tile_number;
      const Tile<kDimensions>& tile = tiles[tile_number];
      const Place rows = tile.places[kPrefix], columns = tile.places[kPrefix + 1];
      // Pieces begin at whole fragments.
      const int row_shift = (rows.begin - lane_first[rows.lane_block]) % 16;
      const int column_shift = (columns.begin - lane_first[columns.lane_block]) % 16;
      const int n_row_pieces = (rows.end - rows.begin + row_shift + kBlockRows - 1) / kBlockRows;
      const int n_column_pieces = (columns.end - columns.begin + column_shift + kBlockColumns - 1) / kBlockColumns;
      const i64 in_tile = item - item_start[tile_number];
      const int row_piece = (int)(in_tile % n_row_pieces);
      const int column_piece = (int)(in_tile / n_row_pieces % n_column_pieces);
      i64 prefix_number = in_tile / n_row_pieces / n_column_pieces * prefixes_per_item;
      i64 n_prefixes = 1;
#pragma unroll
      for (int j = 0; j < kPrefix; ++j) n_prefixes *= tile.places[j].end - tile.places[j].begin;
      const i64 prefix_end = min(prefix_number + prefixes_per_item, n_prefixes);
      const int first_row = rows.begin - row_shift + row_piece * kBlockRows;
      const int first_column = columns.begin - column_shift + column_piece * kBlockColumns;
      // Nothing here in ascending order?
      if (first_row >= min(first_column + kBlockColumns, columns.end) - 1) continue;

      for (; prefix_number < prefix_end; ++prefix_number) {
        __syncthreads();
        if (threadIdx.x == 0) {
          piece.tile = tile;
          piece.first_row = first_row;
          piece.first_column = first_column;
          piece.row_plane = data.lanes.row(rows.lane_block, first_row, 1);
          piece.column_plane = data.lanes.row(columns.lane_block, first_column, 1);
          piece.n_cells = 1;
          i64 number = prefix_number;
          bool ascends = true;
#pragma unroll
          for (int j = kPrefix - 1; j >= 0; --j) {
            const Place& place = tile.places[j];
            piece.prefix[j] = place.begin + (int)(number % (place.end - place.begin));
            number /= place.end - place.begin;
            if (j + 1 < kPrefix && piece.prefix[j] >= piece.prefix[j + 1]) ascends = false;
            piece.prefix_levels[j] = lane_levels[place.lane_block];
            piece.cell_stride[j] = piece.n_cells;
            piece.n_cells *= piece.prefix_levels[j];
            piece.prefix_best[j] = best_so_far(data, piece.prefix[j], place.group);
          }
          // Some row must come after the last of the prefix.
          if (last_of(piece) >= min(first_row + kBlockRows, rows.end) - 1) ascends = false;
          piece_is_empty = !ascends;
        }
        __syncthreads();
        if (piece_is_empty) continue;
        make_masks(data, piece, shared);
        __syncthreads();
        make_margins(data, piece, shared, class_sizes);
        __syncthreads();
        make_parts(data, piece, shared);
        __syncthreads();
        constexpr int kPartsAcross = kBlockColumns / kWarpColumns;
        for (int part = warp; part < kBlockRows / kWarpRows * kPartsAcross; part += kWarps) {
          const int part_row = part / kPartsAcross * kWarpRows, part_column = part % kPartsAcross * kWarpColumns;
          // Parts that hold no ascending pair, or nothing of the tile.
          if (first_row + part_row >= min(first_column + part_column + kWarpColumns, columns.end) - 1) continue;
          if (first_row + part_row >= rows.end) continue;
          if (last_of(piece) >= first_row + part_row + kWarpRows - 1) continue;
          search_part(data, piece, shared, (int)tile_number, part_row, part_column, tolerance, shrink, survivors);
        }
      }
    }
  }
}
