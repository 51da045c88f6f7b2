// tiles → the tuples that may raise a maximum
//
// For every tuple (prefix, l, m) of a tile the counts of its cells come from binary matrix products, a product for each
// cell of the prefix, and the gain of m is bounded from above without logarithms (gain_bound.cuh). Gains of the other
// members follow from it, since all gains of a tuple differ by informations of its sub-tuples: with F(S) the
// information of S,
//     gain(v) = F(prefix, l) + gain(m) − F(all but v),
// where F(all but l) = F(prefix, m) is known, and F(all but v) for a v of the prefix is at least F(prefix but v, l) and
// F(prefix but v, m). Tuples for which no member can reach its maximum so far are dropped: all but some in ten
// thousand. The rest are scored exactly by information_gain.cu. Where every member must gain (EVERY_MEMBER), a tuple is
// dropped if one member cannot.
//
// Bottleneck: floating-point arithmetic, 22 operations and two reciprocals for four cells; the tensor cores are busy a
// third of that time.
// Limits: 2^23 samples in all, since counts are read as floats.
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
//   BLOCK_ROWS, BLOCK_COLUMNS   of a piece, at most
//   ROWS_AMONG_COLUMNS  1 if the rows of a piece always are among its columns
//   THREADS, BLOCKS_PER_MULTIPROCESSOR
// and, where they are defined, HELD_STEPS and HELD_STEPS_OF_0, INTERPLAY_TENSOR_CORES, SMALL_CELLS_NEED_CARE (see
// search_piece.cuh), LOGARITHMS (paired_bound.cuh), EVERY_MEMBER (every_member.cuh).
#include "search/patch_bound.cuh"
#include "search/patch_information.cuh"

namespace interplay {

struct Survivors {
  int* tuples;  // [capacity][1 + kDimensions]: number of the tile, positions
  u32* n_found;
  u32 capacity;
};

// All tuples of a patch: count, bound, keep the survivors.
// first_row, first_column: of the patch, in the piece
__device__ __forceinline__ void search_patch(const Data& data, const Piece& piece, const Prefix& prefix,
                                             const Shared& shared, const StripRows& rows, const RowFragments& row_words,
                                             int first_row, int first_column, const CellTable& table, Ways& ways,
                                             float tolerance, float shrink, const Survivors& survivors) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const ColumnFragments column_words(data, piece.column_plane + first_column, piece.column_stride);
  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = data.pseudocounts[q];
  Bounds<float> bound = {};
  Bounds<u32> information = {};  // with a table

  // Hardly unrolled: the loop should stay in the instruction cache.
#pragma unroll kCellsUnrolled
  for (int cell = 0; cell < piece.cells(); cell += kCellsAtOnce) {
    PatchProducts products;
    products.count(data, shared, row_words, column_words, cell);
    if (kPaired) {
#pragma unroll 1
      for (int c = 0; c < min(kCellsAtOnce, piece.cells() - cell); ++c) {
        products.bring_forward(c);
        if (kTable) {
          add_cell_information(information, products, cell + c, shared, rows, first_column, table, ways);
        } else {
          add_bounds(bound, products, 0, cell + c, shared, rows, first_column, pseudo);
        }
      }
      continue;
    }
#pragma unroll
    for (int c = 0; c < kCellsAtOnce; ++c) {
      if (kCellsAtOnce > 1 && cell + c >= piece.cells()) break;
      add_bounds(bound, products, c, cell + c, shared, rows, first_column, pseudo);
    }
  }

  // A bit for every survivor: few, so that the loop over them is not unrolled.
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
          const int e = half * 2 + side;
          const float others = of_both(row_best + shared.information[column], fmaxf(row_rest, shared.rest[column]));
          bool is_kept;
          if (kTable) {  // the information of the whole tuple, not only the gain of m
            const float needed = of_both(shared.best[column] + row_information, others);
            is_kept = !((float)information[i][j][e] * table.unit < needed - tolerance);
          } else {
            const float bar = (of_both(shared.best[column], others - row_information) - tolerance) * shrink;
            is_kept = kHalf ? may_reach(bound[i][j][e], bar, rows.root_of_error[i * 16 + half * 8 + g])
                            : !(bound[i][j][e] < bar);
          }
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

}  // namespace interplay

using namespace interplay;

// Runs of `items_per_run` items are taken in a scattered order, so that maxima of all variables rise early.
extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS_PER_MULTIPROCESSOR)
    find_survivors(const u32* planes, int n_steps, const int* class_steps, const float* class_sizes,
                   const float* pseudocounts, const int* lane_first, const int* lane_levels, const int* lane_rows,
                   const i64* lane_row, const double* best, int n_groups, const Tile<kDimensions>* tiles,
                   const i64* item_start, int n_tiles, i64 n_items, int prefixes_per_item, i64 items_per_run,
                   i64 first_run, i64 end_run, i64 n_runs, i64 run_stride, u64* next_run, int max_cells,
                   const unsigned short* table, int table_rows, int table_stride, float per_bit, float tolerance,
                   float shrink, int* survivor_tuples, u32* n_survivors, u32 capacity) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Piece piece;
  __shared__ i64 taken_run, tile_at, first_prefix, end_prefix;
  __shared__ int next_task;
  const float n_samples = class_sizes[0] + class_sizes[kClasses - 1];  // of two classes
  const Data data = {
      planes, n_steps,  class_steps,  {lane_first, lane_levels, lane_rows, lane_row},
      best,   n_groups, pseudocounts, {n_samples / class_sizes[0], n_samples / class_sizes[kClasses - 1]}};
  const Shared shared(memory, (table_rows * table_stride + 7) / 8 * 8, max_cells, n_steps);
  const CellTable cell_table = make_cell_table(data, shared, table, table_rows, table_stride, per_bit);
  const Survivors survivors = {survivor_tuples, n_survivors, capacity};
  const int warp = threadIdx.x / 32;

  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const i64 run = first_run + (i64)atomicAdd(next_run, 1ull);
      // A launch whose buffer overflows has to be repeated in any case.
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
        // Strips of rows, the longest first, to whichever warp is free.
        const StripRows rows = {shared.rows + warp * max_cells * kWarpRows * kRowFloats, max_cells,
                                shared.root_of_error + warp * kWarpRows};
        Ways ways;
        for (;;) {
          int task = 0;
          if (threadIdx.x % 32 == 0) task = atomicAdd(&next_task, 1);
          task = __shfl_sync(~0u, task, 0);
          const int strip = row_begin + task * kWarpRows, row = piece.first_row + strip;
          if (row > last_row || row >= last_column) break;  // none is left, or none ascends
          __syncwarp();
          if (kTable) {
            ways.all_there = make_row_totals(piece, shared, rows, strip, cell_table);
          } else {
            make_rows(data, piece, shared, rows, strip);
          }
          __syncwarp();
          const RowFragments row_words(data, piece.row_plane + strip, piece.row_stride);
          for (int column = variables.first_column; column < column_end; column += kWarpColumns) {
            if (row >= min(piece.first_column + column + kWarpColumns - 1, last_column)) continue;
            Ways tried = ways;
            search_patch(data, piece, prefix, shared, rows, row_words, strip, column, cell_table, tried, tolerance,
                         shrink, survivors);
            // Pairs of a variable with itself, on the diagonal, have larger cells than others; so have columns beyond
            // the last.
            if (row + kWarpRows <= piece.first_column + column && column + kWarpColumns <= column_end) ways = tried;
          }
        }
      }
    }
  }
}
