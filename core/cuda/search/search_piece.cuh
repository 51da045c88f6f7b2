// tiles → pieces: the constants that tuple_search.cu is compiled with, and the memory that the threads of a block share
#pragma once

#include "planes/tuple_counts.cuh"
#include "tuples/every_member.cuh"
#include "tuples/tuple_tiles.cuh"

namespace interplay {

constexpr int kThreads = THREADS, kWarps = kThreads / 32;
constexpr int kDimensions = DIMENSIONS, kPrefix = DIMENSIONS - 2, kPrefixRoom = kPrefix > 0 ? kPrefix : 1;
constexpr int kRowLevels = ROW_LEVELS, kColumnLevels = COLUMN_LEVELS, kClasses = CLASSES;
// Levels of every variable of a prefix; 0 where they differ.
constexpr int kPrefixLevels = PREFIX_LEVELS;
constexpr int kRowFragments = ROW_FRAGMENTS, kColumnFragments = COLUMN_FRAGMENTS, kCellsAtOnce = CELLS_AT_ONCE;
constexpr int kBlockRows = BLOCK_ROWS, kBlockColumns = BLOCK_COLUMNS;
constexpr int kWarpRows = 16 * kRowFragments, kWarpColumns = 16 * kColumnFragments;
// Variables of a piece: its columns, then its rows, unless these are among the columns. Each variable has a plane for
// every level but 0, which follows from the others.
constexpr int kOtherRows = ROWS_AMONG_COLUMNS ? 0 : kBlockRows;
constexpr int kColumnPlanes = (kColumnLevels - 1) * kBlockColumns, kRowPlanes = (kRowLevels - 1) * kOtherRows;
constexpr int kPlanes = kColumnPlanes + kRowPlanes, kVariables = kBlockColumns + kOtherRows;
// The counts of two classes of less than 2^16 samples in all may be paired in a word: one subtraction then serves both.
// Class 0 has the upper half, the sum of both the lower half.
#ifdef PAIRED_COUNTS
constexpr bool kPaired = true;
static_assert(CLASSES == 2, "a word has room for two counts");
#else
constexpr bool kPaired = false;
#endif
// Then the information of a tuple's cells may be looked up (small_cells.cuh), of less than 2^15 samples. Each class has
// a half of the word, and counts are doubled.
#ifdef TABLE_BOUND
constexpr bool kTable = true;
static_assert(kPaired, "counts are paired");
constexpr u32 kOneOfClass0 = 0x20000u, kOneOfClass1 = 2u;
#else
constexpr bool kTable = false;
constexpr u32 kOneOfClass0 = 0x10001u, kOneOfClass1 = 1u;
#endif
// Or few samples may be bounded in half floats, two tuples at a time (half_bound.cuh).
#ifdef HALF_BOUND
constexpr bool kHalf = true;
static_assert(kPaired && !kTable, "counts are paired");
#else
constexpr bool kHalf = false;
#endif
// Or, where cells have few samples, by logarithms (paired_bound.cuh).
#ifdef LOGARITHMS
constexpr bool kLogarithms = true;
static_assert(kPaired && !kTable && !kHalf, "counts are paired");
#else
constexpr bool kLogarithms = false;
#endif
// Words of a count of all classes in a margin, and accumulators of a product.
constexpr int kMarginWords = kPaired ? 1 : kClasses;
// Per cell and row, for each level of l. With a table: the samples. Two classes: the samples, the share of class 0, and
// three factors of the bound, two where counts are paired. More classes: the samples of each, and their information.
constexpr int kLevelFloats = kTable ? 1 : kPaired ? 4 : kClasses == 2 ? 5 : kClasses + 1;
constexpr int kRowFloats = kRowLevels * kLevelFloats;
// Products of the tensor cores start from 2^23: their bits then are those of the float 2^23 + count.
constexpr u32 kMagicBits = 0x4B000000u;
constexpr float kMagic = 8388608.0f;
constexpr float kNever = 1e30f, kLargest = 1e37f;
// With two classes, the products of the second are added to those of the first: the bound needs class 0 and the sum.
constexpr bool kSumsOfBoth = kClasses == 2;

// Steps of 256 samples in all and in class 0, where the compiler knows them: with two classes and few samples. Then
// threads hold their words of all steps in registers.
#ifdef HELD_STEPS
constexpr int kHeldSteps = HELD_STEPS, kHeldStepsOf0 = HELD_STEPS_OF_0;
static_assert(kClasses == 2, "steps are held for two classes only");
#else
constexpr int kHeldSteps = 0, kHeldStepsOf0 = 0;
#endif
constexpr int kHeldRoom = kHeldSteps > 0 ? kHeldSteps : 1, kCellsUnrolled = kHeldSteps > 0 ? 2 : 1;

// Pseudocounts are added to the counts as early as possible; but where whole numbers have to be subtracted exactly, as
// late.
#if defined(SMALL_CELLS_NEED_CARE) || defined(PAIRED_COUNTS)
constexpr bool kPseudocountsLast = true;
#else
constexpr bool kPseudocountsLast = false;
#endif

__host__ __device__ constexpr int power(int base, int exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}

// The memory that the threads of a block share while they work on a piece.
struct Shared {
  unsigned short* table;  // [table_size], see small_cells.cuh
  uint2* masks;           // [n_cells and some more][n_steps][4]: samples of each cell of the prefix
  float* rows;            // [kWarps][n_cells][kWarpRows][kRowFloats]
  // Counts in each cell, by class, in place of the last one in all; each with the pseudocounts of the cells of the
  // whole tuple that it gathers, unless these are added last. Paired, both are the bits of one number.
  float* margins;  // [n_cells][kPlanes][kMarginWords]
  float* totals;   // [n_cells][kMarginWords]
  // By variable: F(prefix, variable), its maximum so far, and the least information without a member of the prefix,
  // plus that member's maximum (the most, where every member must gain).
  float *information, *best, *rest;
  float* prefix_best;    // [kPrefix]
  float* root_of_error;  // [kWarps][kWarpRows], where bounds are half floats

  __device__ Shared(unsigned char* memory, int table_size, int n_cells, int n_steps) {
    // Eight cells have margins together, and kCellsAtOnce are counted together.
    const int n_masks = max((n_cells + 7) / 8 * 8, (n_cells + kCellsAtOnce - 1) / kCellsAtOnce * kCellsAtOnce);
    table = reinterpret_cast<unsigned short*>(memory);
    masks = reinterpret_cast<uint2*>(table + table_size);
    rows = reinterpret_cast<float*>(masks + n_masks * n_steps * 4);
    margins = rows + kWarps * n_cells * kWarpRows * kRowFloats;
    totals = margins + n_cells * kPlanes * kMarginWords;
    information = totals + n_cells * kMarginWords;
    best = information + kVariables;
    rest = best + kVariables;
    prefix_best = rest + kVariables;
    root_of_error = prefix_best + kDimensions;
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
  float2 inverse_shares;      // all samples over those of two classes
};

// Some rows and columns of a tile. In shared memory.
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
