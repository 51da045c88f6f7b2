// products of a patch → the information of each tuple's cells within one cell of the prefix, by a table
#pragma once

#include "search/patch_bound.cuh"
#include "search/small_cells.cuh"

namespace interplay {

// Of two fragments of rows one may be of no variables at all, and its totals not those of its counts.
static_assert(!kTable || kRowFragments == 1, "all rows of a strip have totals");

// The samples of each cell and row of a strip. Returns Ways::all_there. first: row of the piece
__device__ __forceinline__ u32 make_row_totals(const Piece& piece, const Shared& shared, const StripRows& rows,
                                               int first, const CellTable& table) {
  u32 not_there = 0;
  for (int i = threadIdx.x % 32; i < piece.cells() * kWarpRows; i += 32) {
    const int cell = i / kWarpRows, row = i % kWarpRows;
    const int margin = piece.row_margin + min(first + row, kBlockRows - 1);
#pragma unroll
    for (int level = 0; level < kRowLevels; ++level) {
      const u32 both = paired_level_counts<kRowLevels>(shared, cell, margin, piece.row_margin_step, level);
      rows.both(cell, row, level) = both;
      if (!table.has(both)) not_there |= 1u << cell % 32;
    }
  }
#pragma unroll
  for (int other = 16; other > 0; other /= 2) not_there |= __shfl_xor_sync(~0u, not_there, other);
  return ~not_there;
}

// Adds the information of each tuple's cells within one cell of the prefix; returns false, and adds nothing, if a cell
// is not in the table.
template <int kWay>
__device__ __forceinline__ bool add_information(Bounds<u32>& bound, const PatchProducts& products, int cell,
                                                const Shared& shared, const StripRows& rows, int first_column,
                                                const CellTable& table) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const float* margins = shared.margins + cell * kPlanes + first_column + 2 * t;
  PairedColumns columns;
  load(columns, margins);
  Bounds<u32> found;
  u32 most = 0;
#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      u32 totals[kRowLevels];
#pragma unroll
      for (int level = 0; level < kRowLevels; ++level) totals[level] = rows.both(cell, i * 16 + half * 8 + g, level);
#pragma unroll
      for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
        for (int side = 0; side < 2; ++side) {
          const int e = half * 2 + side;
          found[i][j][e] = information_by_table<kWay>(table, products.of_tuple(0, i, j, e), totals, columns[j][side]);
          most = max(most, found[i][j][e]);
        }
    }
  if (kWay != kByLogarithms && __any_sync(~0u, most >= kTooLarge)) return false;
#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int j = 0; j < 2 * kColumnFragments; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) bound[i][j][e] += found[i][j][e];
  return true;
}

// Which way to try first for each cell of the prefix: the way that worked last, since the patches of a warp differ
// little. Two bits each: 0 for kByTable, 1 for kAllButLargest, and above 1 how often kByLogarithms is taken before
// kAllButLargest is tried again.
struct Ways {
  u64 bits = 0;
  u32 all_there = 0;  // a bit for each cell: whether all cells of the strip's rows are in the table

  __device__ __forceinline__ int of(int cell) const { return bits >> cell % 32 * 2 & 3; }
  __device__ __forceinline__ void add(int cell, int change) { bits += (u64)(i64)change << cell % 32 * 2; }
};

// The same, in the first way that works.
__device__ __forceinline__ void add_cell_information(Bounds<u32>& bound, const PatchProducts& products, int cell,
                                                     const Shared& shared, const StripRows& rows, int first_column,
                                                     const CellTable& table, Ways& ways) {
  if (ways.all_there >> cell % 32 & 1) {
    if (add_information<kAllThere>(bound, products, cell, shared, rows, first_column, table)) return;
    ways.all_there &= ~(1u << cell % 32);  // a cell exceeds the largest entry
  }
  if (ways.of(cell) == 0) {
    if (add_information<kByTable>(bound, products, cell, shared, rows, first_column, table)) return;
    ways.add(cell, 1);
  }
  if (ways.of(cell) == 1) {
    if (add_information<kAllButLargest>(bound, products, cell, shared, rows, first_column, table)) return;
    ways.add(cell, 2);
  } else {
    ways.add(cell, -1);
  }
  add_information<kByLogarithms>(bound, products, cell, shared, rows, first_column, table);
}

}  // namespace interplay
