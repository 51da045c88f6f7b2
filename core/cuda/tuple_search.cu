// tiles → the tuples that may raise a maximum
//
// For every tuple (prefix, l, m) of a tile the counts of its cells come from binary matrix products, a product for each
// cell of the prefix, and the gain of m is bounded from above without logarithms (gain_bound.cuh). Gains of the other
// members follow from it, since all gains of a tuple differ by informations of its sub-tuples: with F(S) the
// information of S,
//     gain(v) = F(prefix, l) + gain(m) − F(all but v),
// where F(all but l) = F(prefix, m) is known, and F(all but v) for a v of the prefix is at least that of its parts
// with l or with m alone. Tuples for which no member can reach its maximum so far are dropped, all but a few in a
// million where most variables are noise; the rest are scored exactly by information_gain.cu.
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
//   COLUMN_FRAGMENTS    of 16 columns
//   PREFIX_LEVELS       levels of every variable of the prefix, 0 if they differ
//   CELLS_AT_ONCE       cells of the prefix that are counted together
//   BLOCK_ROWS, BLOCK_COLUMNS
//   ROWS_AMONG_COLUMNS  1 if they always are
//   THREADS, BLOCKS_PER_MULTIPROCESSOR
// and, where they are defined, INTERPLAY_TENSOR_CORES, SMALL_CELLS_NEED_CARE (see below).
#include "gain_bound.cuh"
#include "tuple_counts.cuh"
#include "tuple_tiles.cuh"

namespace interplay {

constexpr int kThreads = THREADS, kWarps = kThreads / 32;
constexpr int kDimensions = DIMENSIONS, kPrefix = DIMENSIONS - 2, kPrefixRoom = kPrefix > 0 ? kPrefix : 1;
constexpr int kRowLevels = ROW_LEVELS, kColumnLevels = COLUMN_LEVELS, kClasses = CLASSES;
// Levels of every variable of a prefix; 0 where they differ.
constexpr int kPrefixLevels = PREFIX_LEVELS;
constexpr int kRowFragments = ROW_FRAGMENTS, kColumnFragments = COLUMN_FRAGMENTS, kCellsAtOnce = CELLS_AT_ONCE;
constexpr int kBlockRows = BLOCK_ROWS, kBlockColumns = BLOCK_COLUMNS;
constexpr int kWarpRows = 16 * kRowFragments, kWarpColumns = 16 * kColumnFragments;
// Variables of a piece: its columns, then its rows, unless these are among the columns. Each has a plane for every
// level but 0, which is what the others leave.
constexpr int kOtherRows = ROWS_AMONG_COLUMNS ? 0 : kBlockRows;
constexpr int kColumnPlanes = (kColumnLevels - 1) * kBlockColumns, kRowPlanes = (kRowLevels - 1) * kOtherRows;
constexpr int kPlanes = kColumnPlanes + kRowPlanes, kVariables = kBlockColumns + kOtherRows;
// Parts of a strip that a warp takes at a time.
constexpr int kPartsPerTask = 8;
// Per cell and row, for each level of l. Two classes: the samples, the share of class 0, and A and B of the bound. More
// classes: the samples of each, and their information.
constexpr int kLevelFloats = kClasses == 2 ? 4 : kClasses + 1;
constexpr int kRowFloats = kRowLevels * kLevelFloats;
// Products of the tensor cores start from 2^23: their bits then are those of the float 2^23 + count.
constexpr u32 kMagicBits = 0x4B000000u;
constexpr float kMagic = 8388608.0f;
constexpr float kNever = 1e30f;

__host__ __device__ constexpr int power(int base, int exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}

// What the threads of a block share while they work on a piece.
struct Shared {
  uint2* masks;    // [n_cells rounded up to 8][n_steps][4]: samples of each cell of the prefix
  float* rows;     // [kWarps][n_cells][kWarpRows][kRowFloats]
  float* margins;  // [n_cells][kPlanes][kClasses]: counts in each cell, by class, in place of the last one in all
  float* totals;   // [n_cells][kClasses]
  // By variable: F(prefix, variable), its maximum so far, and the least that all but a member of the prefix tell, plus
  // that member's maximum.
  float *information, *best, *rest;
  float* prefix_best;  // [kPrefix]

  __device__ Shared(unsigned char* memory, int n_cells, int n_steps) {
    const int n_masks = (n_cells + 7) / 8 * 8;
    masks = reinterpret_cast<uint2*>(memory);
    rows = reinterpret_cast<float*>(masks + n_masks * n_steps * 4);
    margins = rows + kWarps * n_cells * kWarpRows * kRowFloats;
    totals = margins + n_cells * kPlanes * kClasses;
    information = totals + n_cells * kClasses;
    best = information + kVariables;
    rest = best + kVariables;
    prefix_best = rest + kVariables;
  }
};

struct Data {
  const u32* planes;
  int n_steps;
  const int* class_steps;  // [kClasses + 1]
  LaneBlocks lanes;
  const double* best;  // [position * n_groups + group]
  int n_groups;
  const float* pseudocounts;  // [kClasses], of a cell of the whole tuple
};

// A piece of work: some rows and columns of a tile. In shared memory.
struct Piece {
  Tile<kDimensions> tile;
  int tile_number;
  int first_row, first_column;      // positions; may lie before the tile's first, since fragments are aligned
  i64 row_plane, column_plane;      // rows of the planes of level 1
  i64 row_stride, column_stride;    // to the planes of the next level
  int row_variable;                 // the first row among the variables
  int row_margin, row_margin_step;  // the first row's level 1 among the planes of the margins, and to the next level
  int prefix_levels[kPrefixRoom], cell_stride[kPrefixRoom], n_cells;

  __device__ __forceinline__ const Place& rows() const { return tile.places[kPrefix]; }
  __device__ __forceinline__ const Place& columns() const { return tile.places[kPrefix + 1]; }
  __device__ __forceinline__ bool rows_are_columns() const { return row_variable < kBlockColumns; }
  // Known to the compiler where all variables of all prefixes have the same number of levels.
  __device__ __forceinline__ int levels_of(int j) const { return kPrefixLevels ? kPrefixLevels : prefix_levels[j]; }
  __device__ __forceinline__ int stride_of(int j) const {
    return kPrefixLevels == 2 ? 1 << (kPrefix - 1 - j) : cell_stride[j];
  }
  __device__ __forceinline__ int cells() const { return kPrefixLevels ? power(kPrefixLevels, kPrefix) : n_cells; }
};

// The positions of the prefix, in every thread's registers.
struct Prefix {
  int positions[kPrefixRoom];

  __device__ __forceinline__ int last() const { return kPrefix > 0 ? positions[kPrefixRoom - 1] : -1; }
  __device__ __forceinline__ bool ascends() const {
    bool result = true;
#pragma unroll
    for (int j = 1; j < kPrefix; ++j) result = result && positions[j - 1] < positions[j];
    return result;
  }
  __device__ void set(const Tile<kDimensions>& tile, i64 number) {
#pragma unroll
    for (int j = kPrefix - 1; j >= 0; --j) {
      const int size = tile.places[j].end - tile.places[j].begin;
      positions[j] = tile.places[j].begin + (int)(number % size);
      number /= size;
    }
  }
  __device__ __forceinline__ void advance(const Tile<kDimensions>& tile) {
#pragma unroll
    for (int j = kPrefix - 1; j >= 0; --j) {
      if (++positions[j] < tile.places[j].end) return;
      positions[j] = tile.places[j].begin;
    }
  }
};

__device__ __forceinline__ float best_so_far(const Data& data, int position, int group) {
  return __double2float_rd(data.best[(i64)position * data.n_groups + group]);
}

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

// The variables of a piece that matter to a prefix: columns, then rows that are not among them; by whole fragments.
struct Variables {
  int first_column, n_columns, first_row, n_rows;

  __device__ __forceinline__ int size() const { return n_columns + n_rows; }
  // Number of a variable in the piece: columns first, rows from kBlockColumns on.
  __device__ __forceinline__ int operator[](int i) const {
    return i < n_columns ? first_column + i : kBlockColumns + first_row + (i - n_columns);
  }
};

__device__ __forceinline__ bool is_column(int variable) { return variable < kBlockColumns; }

// The variable's level 1 among the planes of the margins.
__device__ __forceinline__ int margin_plane(int variable) {
  return is_column(variable) ? variable : kColumnPlanes + variable - kBlockColumns;
}

// Counts of the variables in each cell, eight cells to a product.
__device__ __forceinline__ void make_margins(const Data& data, const Piece& piece, const Shared& shared,
                                             const float* class_sizes, const Variables& variables) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane >> 2, t = lane & 3;
  const int n_eights = (piece.cells() + 7) / 8, n_fragments = variables.size() / 16;
  for (int job = warp; job < n_fragments * n_eights; job += kWarps) {
    const int variable = variables[job % n_fragments * 16], eight = job / n_fragments;
    const int n_levels = is_column(variable) ? kColumnLevels : kRowLevels;
    for (int level = 1; level < n_levels; ++level) {
      const i64 row = is_column(variable) ? piece.column_plane + (level - 1) * piece.column_stride + variable
                                          : piece.row_plane + (level - 1) * piece.row_stride + variable - kBlockColumns;
      const int plane = margin_plane(variable) + (level - 1) * (is_column(variable) ? kBlockColumns : kBlockRows);
      const uint4* words = reinterpret_cast<const uint4*>(data.planes + word_index(row, data.n_steps, 0)) + lane;
      const uint2* masks = shared.masks + (eight * 8 + g) * data.n_steps * 4 + t;
      u32 in_all[4] = {0, 0, 0, 0};
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
          const int cell = eight * 8 + 2 * t + (e & 1);
          if (cell < piece.cells()) {
            shared.margins[(cell * kPlanes + plane + g + (e >> 1) * 8) * kClasses + q] =
                (float)(q + 1 < kClasses ? sums[e] : in_all[e]);
          }
        }
      }
    }
  }
  for (int job = warp; job < piece.cells() * kClasses; job += kWarps) {
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

// Counts by class at a level of a variable in a cell. plane: of its level 1; step: to its next level
template <int kLevels>
__device__ __forceinline__ void level_counts(const Shared& shared, int cell, int plane, int step, int level,
                                             float (&counts)[kClasses]) {
  const float* margin = shared.margins + (cell * kPlanes + plane) * kClasses;
  if (level > 0) {
    margin += (level - 1) * step * kClasses;
#pragma unroll
    for (int q = 0; q < kClasses; ++q) counts[q] = margin[q];
  } else {
    // What the other levels leave of the cell.
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

// F(prefix, variable), and the least over the members v of the prefix of F(prefix but v, variable) + v's maximum.
// others: levels of the last variable that is left out, whose pseudocounts a cell gathers
// Loops are kept short on purpose: unrolled, they drive the loop that matters out of the instruction cache.
template <int kLevels>
__device__ __forceinline__ void find_informations(const Piece& piece, const Shared& shared,
                                                  const float (&pseudo)[kClasses], int plane, int step, int others,
                                                  float* information, float* rest) {
  float sum = 0;
#pragma unroll 1
  for (int cell = 0; cell < piece.cells(); ++cell) {
#pragma unroll
    for (int level = 0; level < kLevels; ++level) {
      float counts[kClasses], n = 0;
      level_counts<kLevels>(shared, cell, plane, step, level, counts);
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        const float n_q = counts[q] + others * pseudo[q];
        sum += x_log_x(n_q);
        n += n_q;
      }
      sum -= x_log_x(n);
    }
  }
  *information = sum;
  float least = kNever;
#pragma unroll 1
  for (int j = 0; j < kPrefix; ++j) {
    const int stride = piece.stride_of(j), n_levels = piece.levels_of(j);
    float without = 0;
#pragma unroll 1
    for (int cell = 0; cell < piece.cells(); ++cell) {
      if (cell / stride % n_levels != 0) continue;
#pragma unroll
      for (int level = 0; level < kLevels; ++level) {
        float merged[kClasses], n = 0;
#pragma unroll
        for (int q = 0; q < kClasses; ++q) merged[q] = others * n_levels * pseudo[q];
#pragma unroll
        for (int a = 0; a < n_levels; ++a) {
          float counts[kClasses];
          level_counts<kLevels>(shared, cell + a * stride, plane, step, level, counts);
#pragma unroll
          for (int q = 0; q < kClasses; ++q) merged[q] += counts[q];
        }
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          without += x_log_x(merged[q]);
          n += merged[q];
        }
        without -= x_log_x(n);
      }
    }
    least = fminf(least, shared.prefix_best[j] + without);
  }
  *rest = least;
}

// What the bound needs of each variable.
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
      find_informations<kColumnLevels>(piece, shared, pseudo, plane, step, kRowLevels, &information, &rest);
    } else {
      find_informations<kRowLevels>(piece, shared, pseudo, plane, step, kColumnLevels, &information, &rest);
    }
    const bool counts =
        position >= place.begin && position < place.end && (is_column(variable) || !piece.tile.only_last_counts);
    shared.information[variable] = information;
    shared.best[variable] = counts ? best_so_far(data, position, place.group) : kNever;
    shared.rest[variable] = counts ? rest : kNever;
  }
}

// What the bound needs of each cell and row of a warp's strip. first: row of the piece
__device__ __forceinline__ void make_rows(const Data& data, const Piece& piece, const Shared& shared, float* rows,
                                          int first) {
  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = data.pseudocounts[q];
  for (int i = threadIdx.x % 32; i < piece.cells() * kWarpRows; i += 32) {
    const int cell = i / kWarpRows, row = min(first + i % kWarpRows, kBlockRows - 1);
    float* part = rows + i * kRowFloats;
#pragma unroll
    for (int level = 0; level < kRowLevels; ++level, part += kLevelFloats) {
      float counts[kClasses], n = 0, all = 0, information = 0;
      level_counts<kRowLevels>(shared, cell, piece.row_margin + row, piece.row_margin_step, level, counts);
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        n += counts[q];
        counts[q] += kColumnLevels * pseudo[q];
        all += counts[q];
        information += x_log_x(counts[q]);
      }
      if (kClasses == 2) {
        const float share = counts[0] * reciprocal(fmaxf(all, 1e-12f));
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
// row: kRowFloats of the cell and row; column: margins of the cell and column's level 1
__device__ __forceinline__ float bound_of_two_classes(const CellCounts& counts, const float* row, const float* column,
                                                      const float (&pseudo)[kClasses]) {
#ifdef SMALL_CELLS_NEED_CARE
  const float after_0 = pseudo[0], after_1 = pseudo[kClasses - 1], after = after_0 + after_1;
#endif
  // What level 0 of l has of each level of m: what the other levels leave of it.
  float left_0[kColumnLevels - 1], left[kColumnLevels - 1];
#pragma unroll
  for (int b = 0; b < kColumnLevels - 1; ++b) {
    left_0[b] = column[b * kBlockColumns * kClasses];
    left[b] = column[b * kBlockColumns * kClasses + 1];
#ifndef SMALL_CELLS_NEED_CARE
    left_0[b] += kRowLevels * pseudo[0];
    left[b] += kRowLevels * (pseudo[0] + pseudo[kClasses - 1]);
#endif
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
    const float* margin = column + b * kBlockColumns * kClasses;
    float others = 0;
#pragma unroll
    for (int q = 0; q + 1 < kClasses; ++q) {
      left[b][q] = margin[q];
      others += margin[q];
    }
    left[b][kClasses - 1] = margin[kClasses - 1] - others;
#ifndef SMALL_CELLS_NEED_CARE
#pragma unroll
    for (int q = 0; q < kClasses; ++q) left[b][q] += kRowLevels * pseudo[q];
#endif
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

// All tuples of a part of a strip: count, bound, keep what may matter.
// rows: the numbers of the strip; first_row, first_column: of the part, in the piece
__device__ __forceinline__ void search_part(const Data& data, const Piece& piece, const Prefix& prefix,
                                            const Shared& shared, const float* rows, int first_row, int first_column,
                                            float tolerance, float shrink, const Survivors& survivors) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  constexpr int kProducts = (kRowLevels - 1) * (kColumnLevels - 1);
  const i64 words_per_row = (i64)data.n_steps * kWordsPerStep;
  const uint4* row_planes =
      reinterpret_cast<const uint4*>(data.planes + (piece.row_plane + first_row) * words_per_row) + lane;
  const uint4* column_planes =
      reinterpret_cast<const uint4*>(data.planes + (piece.column_plane + first_column) * words_per_row) + lane;
  const i64 row_stride = piece.row_stride * words_per_row / 4, column_stride = piece.column_stride * words_per_row / 4;
  const int fragment_stride = data.n_steps * 32;
  const u32 magic[4] = {kMagicBits, kMagicBits, kMagicBits, kMagicBits};

  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = data.pseudocounts[q];
  float bound[kRowFragments][2 * kColumnFragments][4];
#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) bound[i][j][e] = 0;

  for (int cell = 0; cell < piece.cells(); cell += kCellsAtOnce) {
    u32 sums[kCellsAtOnce][kClasses][kProducts][kRowFragments][2 * kColumnFragments][4];
#pragma unroll
    for (int q = 0; q < kClasses; ++q) {
      const auto add_step = [&](int step, bool is_first) {
        uint4 left[kRowLevels - 1][kRowFragments], right[kColumnLevels - 1][kColumnFragments];
#pragma unroll
        for (int a = 0; a < kRowLevels - 1; ++a)
#pragma unroll
          for (int i = 0; i < kRowFragments; ++i) {
            left[a][i] = row_planes[a * row_stride + i * fragment_stride + step * 32];
          }
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
            for (int j = 0; j < 2 * kColumnFragments; ++j) {
              const uint4 words = right[b][j / 2];
              const uint2 masked = j % 2 ? make_uint2(words.y & mask.x, words.w & mask.y)
                                         : make_uint2(words.x & mask.x, words.z & mask.y);
#pragma unroll
              for (int a = 0; a < kRowLevels - 1; ++a)
#pragma unroll
                for (int i = 0; i < kRowFragments; ++i) {
                  u32(&sum)[4] = sums[c][q][a * (kColumnLevels - 1) + b][i][j];
                  if (is_first) {
                    add_products(sum, left[a][i], masked, magic);
                  } else {
                    add_products(sum, left[a][i], masked, sum);
                  }
                }
            }
        }
      };
      const int end = data.class_steps[q + 1];
      int step = data.class_steps[q];
      add_step(step, true);
#pragma unroll 3
      for (++step; step < end; ++step) add_step(step, false);
    }
#pragma unroll
    for (int c = 0; c < kCellsAtOnce; ++c) {
      if (kCellsAtOnce > 1 && cell + c >= piece.cells()) break;
#pragma unroll
      for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float* row_part = rows + ((cell + c) * kWarpRows + i * 16 + half * 8 + g) * kRowFloats;
          float row_numbers[kRowFloats];
#pragma unroll
          for (int f = 0; f < kRowFloats; ++f) row_numbers[f] = row_part[f];
#pragma unroll
          for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
            for (int side = 0; side < 2; ++side) {
              const int column = first_column + j * 8 + 2 * t + side, e = half * 2 + side;
              const float* margins = shared.margins + ((cell + c) * kPlanes + column) * kClasses;
              CellCounts counts;
#pragma unroll
              for (int q = 0; q < kClasses; ++q)
#pragma unroll
                for (int ab = 0; ab < kProducts; ++ab) counts.products[q][ab] = sums[c][q][ab][i][j][e];
              bound[i][j][e] += kClasses == 2 ? bound_of_two_classes(counts, row_numbers, margins, pseudo)
                                              : gain_of_cell(counts, row_numbers, margins, pseudo);
            }
        }
    }
  }

  // A bit for every tuple that may matter: few, so that what follows is not unrolled.
  u32 kept = 0;
#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = piece.row_variable + first_row + i * 16 + half * 8 + g;
      const float row_information = shared.information[row], row_best = shared.best[row], row_rest = shared.rest[row];
#pragma unroll
      for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
        for (int side = 0; side < 2; ++side) {
          const int column = first_column + j * 8 + 2 * t + side;
          const float others =
              fminf(row_best + shared.information[column], fmaxf(row_rest, shared.rest[column])) - row_information;
          const float needed = fminf(shared.best[column], others);
          const bool is_kept = !(bound[i][j][half * 2 + side] < (needed - tolerance) * shrink);
          kept |= (u32)is_kept << (((i * 2 + half) * 2 * kColumnFragments + j) * 2 + side);
        }
    }
#pragma unroll 1
  for (; kept; kept &= kept - 1) {
    const int bit = __ffs(kept) - 1, column_bits = bit % (4 * kColumnFragments),
              row_bits = bit / (4 * kColumnFragments);
    const int l = piece.first_row + first_row + row_bits * 8 + g;
    const int m = piece.first_column + first_column + column_bits / 2 * 8 + 2 * t + column_bits % 2;
    const Place& lower = piece.rows();
    const Place& upper = piece.columns();
    if (l < lower.begin || l >= lower.end || m < upper.begin || m >= upper.end || l >= m) continue;
    if (prefix.last() >= l) continue;
    const u32 place = atomicAdd(survivors.n_found, 1u);
    if (place >= survivors.capacity) continue;
    int* tuple = survivors.tuples + (i64)place * (1 + kDimensions);
    tuple[0] = piece.tile_number;
#pragma unroll
    for (int v = 0; v < kPrefix; ++v) tuple[1 + v] = prefix.positions[v];
    tuple[1 + kPrefix] = l;
    tuple[2 + kPrefix] = m;
  }
}

// Where an item lies: its tile, its piece of the rectangle, and its first prefix. Returns the end of its prefixes.
__device__ i64 locate(const Data& data, const Tile<kDimensions>& tile, i64 in_tile, int prefixes_per_item, Piece& piece,
                      i64& first_prefix) {
  piece.tile = tile;
  const Place rows = tile.places[kPrefix], columns = tile.places[kPrefix + 1];
  const LaneBlocks& lanes = data.lanes;
  // Pieces begin at whole fragments.
  const int row_shift = (rows.begin - lanes.first_position[rows.lane_block]) % kRowsPerFragment;
  const int column_shift = (columns.begin - lanes.first_position[columns.lane_block]) % kRowsPerFragment;
  const int n_row_pieces = (rows.end - rows.begin + row_shift + kBlockRows - 1) / kBlockRows;
  const int n_column_pieces = (columns.end - columns.begin + column_shift + kBlockColumns - 1) / kBlockColumns;
  piece.first_row = rows.begin - row_shift + (int)(in_tile % n_row_pieces) * kBlockRows;
  piece.first_column = columns.begin - column_shift + (int)(in_tile / n_row_pieces % n_column_pieces) * kBlockColumns;
  piece.row_plane = lanes.row(rows.lane_block, piece.first_row, 1);
  piece.column_plane = lanes.row(columns.lane_block, piece.first_column, 1);
  piece.row_stride = lanes.rows_per_level[rows.lane_block];
  piece.column_stride = lanes.rows_per_level[columns.lane_block];
  const int row_end = min(piece.first_row + kBlockRows, rows.end);
  const bool among_columns = rows.lane_block == columns.lane_block && piece.first_row >= piece.first_column &&
                             row_end <= min(piece.first_column + kBlockColumns, columns.end);
  piece.row_variable = among_columns ? piece.first_row - piece.first_column : kBlockColumns;
  piece.row_margin = among_columns ? piece.row_variable : kColumnPlanes;
  piece.row_margin_step = among_columns ? kBlockColumns : kBlockRows;
  piece.n_cells = 1;
  i64 n_prefixes = 1;
#pragma unroll
  for (int j = kPrefix - 1; j >= 0; --j) {
    piece.prefix_levels[j] = lanes.n_levels[tile.places[j].lane_block];
    piece.cell_stride[j] = piece.n_cells;
    piece.n_cells *= piece.prefix_levels[j];
    n_prefixes *= tile.places[j].end - tile.places[j].begin;
  }
  first_prefix = in_tile / n_row_pieces / n_column_pieces * prefixes_per_item;
  return min(first_prefix + prefixes_per_item, n_prefixes);
}

}  // namespace interplay

using namespace interplay;

// Runs of `items_per_run` items are taken in a scattered order, so that maxima of all variables rise early.
extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS_PER_MULTIPROCESSOR)
    find_survivors(const u32* planes, int n_steps, const int* class_steps, const float* class_sizes,
                   const float* pseudocounts, const int* lane_first, const int* lane_levels, const int* lane_rows,
                   const i64* lane_row, const double* best, int n_groups, const Tile<kDimensions>* tiles,
                   const i64* item_start, int n_tiles, i64 n_items, int prefixes_per_item, i64 items_per_run,
                   i64 first_run, i64 end_run, i64 n_runs, i64 run_stride, u64* next_run, int max_cells,
                   float tolerance, float shrink, int* survivor_tuples, u32* n_survivors, u32 capacity) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Piece piece;
  __shared__ i64 taken_run, tile_at, first_prefix, end_prefix;
  __shared__ int next_task;
  const Data data = {planes, n_steps,  class_steps, {lane_first, lane_levels, lane_rows, lane_row},
                     best,   n_groups, pseudocounts};
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
      __syncthreads();
      if (threadIdx.x == 0) {
        piece.tile_number = (int)tile_number;
        end_prefix =
            locate(data, tiles[tile_number], item - item_start[tile_number], prefixes_per_item, piece, first_prefix);
      }
      __syncthreads();
      const int last_row = min(piece.first_row + kBlockRows, piece.rows().end) - 1;
      const int last_column = min(piece.first_column + kBlockColumns, piece.columns().end) - 1;
      if (piece.first_row >= last_column) continue;  // nothing in ascending order

      Prefix prefix;
      prefix.set(piece.tile, first_prefix);
      for (i64 number = first_prefix; number < end_prefix; ++number, prefix.advance(piece.tile)) {
        if (!prefix.ascends() || prefix.last() >= last_row) continue;
        // Rows after the prefix, and columns after the first of them.
        const int row_begin = max(prefix.last() + 1 - piece.first_row, 0) / 16 * 16;
        const int column_end = last_column + 1 - piece.first_column;
        Variables variables;
        variables.first_column = max(piece.first_row + row_begin - piece.first_column, 0) / 16 * 16;
        variables.n_columns = (column_end - variables.first_column + 15) / 16 * 16;
        variables.first_row = row_begin;
        variables.n_rows = piece.rows_are_columns() ? 0 : (last_row - piece.first_row - row_begin + 16) / 16 * 16;
        __syncthreads();
        if (threadIdx.x == 0) next_task = 0;
        make_masks(data, piece, prefix, shared);
        __syncthreads();
        make_margins(data, piece, shared, class_sizes, variables);
        __syncthreads();
        make_informations(data, piece, shared, variables);
        __syncthreads();
        // Strips of rows, the longest first, and segments of them, to whichever warp is free.
        float* rows = shared.rows + warp * max_cells * kWarpRows * kRowFloats;
        constexpr int kSegment = kPartsPerTask * kWarpColumns;
        const int n_segments = (column_end - variables.first_column + kSegment - 1) / kSegment;
        for (;;) {
          int task = 0;
          if (threadIdx.x % 32 == 0) task = atomicAdd(&next_task, 1);
          task = __shfl_sync(~0u, task, 0);
          const int strip = row_begin + task / n_segments * kWarpRows, row = piece.first_row + strip;
          if (row > last_row) break;
          const int first = variables.first_column + task % n_segments * kSegment;
          const int end = min(first + kSegment, column_end);
          if (row >= piece.first_column + end - 1) continue;  // none ascends
          __syncwarp();
          make_rows(data, piece, shared, rows, strip);
          __syncwarp();
          for (int column = first; column < end; column += kWarpColumns) {
            if (row >= min(piece.first_column + column + kWarpColumns - 1, last_column)) continue;
            search_part(data, piece, prefix, shared, rows, strip, column, tolerance, shrink, survivors);
          }
        }
      }
    }
  }
}
