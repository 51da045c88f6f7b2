// the counts of a batch → the tuples that may raise a maximum
//
// The count of a cell with a member of the prefix at level 0 is the count of the pattern with that member open, less
// the counts of the cells with its other levels; likewise for rows and columns. The gain of the column is bounded for
// two classes as gain_bound.cuh says; for others it is, in floats,
//     Σ x·log2(x·X / (S·X_q)),
// over the samples x of class q in each cell of all members, S of all classes in it, X_q and X those of the cell
// without the column; pseudocounts included. Gains of the other members follow from it as in tuple_search.cu. The
// information of the prefix is subtracted from all others: so they are small, and differences of floats precise.
//
// Of a number outcome, Σ S²/n over the cells gives an upper bound of the tuple's information itself (sum_bound.cuh).
// Nothing is subtracted, and it is compared with the information without a member plus that member's maximum.
//
// Bottleneck: arithmetic, a dozen operations and a reciprocal for each cell of two classes; then loads of counts.
// Limits: 2^23 samples in all, since counts become floats by way of their bits.
//
// Compiled once for each combination of DIMENSIONS, ROW_LEVELS, COLUMN_LEVELS, CLASSES and
//   PREFIX_LEVELS       levels of every variable of the prefix, 0 if they differ
//   PAIRED_COUNTS       as in product_block.cuh
//   SMALL_SUMS          with NUMBERS, if no sum of scores reaches 2^22
//   LOGARITHMS          with two classes, if cells have few samples
// with EVERY_MEMBER (every_member.cuh) and without, with NUMBERS (product_batch.cuh) and without.
#include "products/number_squares.cuh"
#include "products/product_margins.cuh"

using namespace interplay;

// The tuples of some strips of a batch: a strip is a prefix and kRowsOfStrip rows. A thread to a column. Survivors take
// their counts along: to count a tuple again takes as long as its samples are many.
// products: as count_products has them; pseudocounts: as find_margins
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    bound_products(const int* lane_first, const int* lane_levels, const int* lane_rows, const i64* lane_row,
                   const Batch* batches, int number, const Tile<kDimensions>* tiles, const double* best, int n_groups,
                   const float* pseudocounts, const u32* products, i64 row_stride, i64 class_stride,
                   const u32* cell_rows, const float* row_factors, const u32* cell_columns, const float* information,
                   const float* rest, int first_strip, float tolerance, int* survivor_tuples, u32* survivor_counts,
                   int counts_stride, u32* n_survivors, u32 capacity) {
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch& batch = batches[number];
  const Tile<kDimensions>& tile = tiles[batch.tile];
  const int strip = first_strip + blockIdx.x, row_strips = batch.n_rows / kRowsOfStrip;
  const int prefix_number = strip / row_strips, strip_row = strip % row_strips * kRowsOfStrip;
  const BatchPrefix prefix(batch, lanes, prefix_number);
  const Place rows = tile.places[kPrefix], columns = tile.places[kPrefix + 1];
  const int column = blockIdx.y * kThreads + threadIdx.x, m = batch.first_column + column;
  const Margins margins = {const_cast<u32*>(cell_rows), const_cast<float*>(row_factors), const_cast<u32*>(cell_columns),
                           const_cast<float*>(information), const_cast<float*>(rest)};
  const i64 first_variable = (i64)prefix_number * (batch.n_rows + batch.n_columns);
  if (!prefix.ascends) return;
  __shared__ StripRows strip_rows;  // used with NUMBERS alone
  if constexpr (kHoldsSquares) {
    for (int i = threadIdx.x; i < kRowsOfStrip * kPrefixCells * kRowLevels; i += kThreads) {
      const int row = i / kRowLevels / kPrefixCells, cell = i / kRowLevels % kPrefixCells, level = i % kRowLevels;
      const u32* from = cell_rows + margins.row_place(batch, (i64)prefix_number * kPrefixCells + cell, level, 0);
      strip_rows.cells[row][cell][level] = {count_value(from[strip_row + row]),
                                            sum_value(from[strip_row + row + batch.n_rows])};
    }
    if (threadIdx.x < kRowsOfStrip) {
      const int row = strip_row + threadIdx.x, l = batch.first_row + row;
      const bool is_asked = !tile.only_last_counts && l >= rows.begin && l < rows.end;
      strip_rows.best[threadIdx.x] = is_asked ? __double2float_rd(best[(i64)l * n_groups + rows.group]) : kNever;
      strip_rows.information[threadIdx.x] = information[first_variable + row];
      strip_rows.rest[threadIdx.x] = rest[first_variable + row];
    }
    __syncthreads();
  }
  const int first_l = max(max(batch.first_row + strip_row, rows.begin), prefix.last() + 1);
  const int end_l = min(min(batch.first_row + strip_row + kRowsOfStrip, rows.end), m);
  if (column >= batch.n_columns || m < columns.begin || m >= columns.end || first_l >= end_l) return;

  float pseudo[kClasses];
#pragma unroll
  for (int q = 0; q < kClasses; ++q) pseudo[q] = pseudocounts[q];
  const SumBound sum_bound(pseudocounts);  // read with NUMBERS alone
  const i64 of_column = first_variable + batch.n_rows + column;
  const float column_best = __double2float_rd(best[(i64)m * n_groups + columns.group]);
  const float column_information = information[of_column], column_rest = rest[of_column];

  const ColumnSquares of_squares(
      prefix, products + plane_of(column, 1, kColumnLevels), class_stride, (int)row_stride,
      cell_columns + margins.column_place(batch, (i64)prefix_number * kPrefixCells, 1, 0) + column,
      margins.column_place(batch, 1, 1, 0), batch.n_columns);
  PatternProducts now, next;
  if constexpr (kHoldsSquares) of_squares.load(first_l - batch.first_row, next);

#pragma unroll 1
  for (int l = first_l; l < end_l; ++l) {
    const int row = l - batch.first_row;
    const u32* of_tuple = products + plane_of(row, 1, kRowLevels) * row_stride + plane_of(column, 1, kColumnLevels);
    // Products with a mask: of a level of the row variable, from 0 for level 1 on, those of all columns' levels and
    // classes.
    const auto place_of_product = [&](int mask, int a, int i) {
      const int q = i % kWordsOfPair, b = i / kWordsOfPair;
      return of_tuple + ((i64)mask * kWordsOfPair + q) * class_stride + (a * row_stride + b) * kRowsPerFragment;
    };
    const auto product = [&](int mask, int i) {
      return (int)*place_of_product(mask, i / kRowProducts, i % kRowProducts);
    };
    const auto cell_of_prefix = [&](int cell) {
      const i64 in_all = (i64)prefix_number * prefix.cells() + cell;
      return CellOfPrefix{cell_columns + margins.column_place(batch, in_all, 1, 0) + column,
                          cell_rows + margins.row_place(batch, in_all, 0, 0) + row,
                          row_factors + margins.factor_place(batch, in_all, 0, 0) + row, batch.n_rows, batch.n_columns};
    };
    // Calls visit for every cell of the tuple in a cell of the prefix: products with each of its patterns, added up.
    const auto for_cells_in = [&](int cell, auto visit) {
      int levels[kPrefixRoom];
      prefix.levels_of(cell, levels);
      if constexpr (kByRowLevels) {
        cell_of_prefix(cell).for_cells(
            [&](int a, int (&words)[kRowProducts]) {
#pragma unroll kUnrolledProducts
              for (int i = 0; i < kRowProducts; ++i) words[i] = 0;
              prefix.for_patterns(levels, [&](int mask, int sign) {
#pragma unroll kUnrolledProducts
                for (int i = 0; i < kRowProducts; ++i) words[i] += sign * (int)*place_of_product(mask, a - 1, i);
              });
            },
            visit);
      } else {
        int counts[kProducts];
#pragma unroll
        for (int i = 0; i < kProducts; ++i) counts[i] = 0;
        prefix.for_patterns(levels, [&](int mask, int sign) {
#pragma unroll
          for (int i = 0; i < kProducts; ++i) counts[i] += sign * product(mask, i);
        });
        cell_of_prefix(cell).for_cells_of(counts, visit);
      }
    };
    if constexpr (kHoldsProducts && !kHoldsSquares) {
      // Prefetch the counts of the next row while this one is computed: they may not be in any cache.
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
              if (i / kWordsOfPair % (kColumnLevels - 1) % 2 == 0) {
                prefetch(place_of_product(mask, i / kRowProducts, i % kRowProducts) + next);
              }
            }
          }
        }
      }
    }
    float bound = 0;
    const auto add_bound = [&](int, int, const int (&n)[kClasses], const float (&factor)[kRowFactors]) {
      if constexpr (kNumbers) {
        bound += square_of(to_float(n[0]), sum_to_float(n[kClasses - 1]));
        return;
      }
      float x[kClasses], sum = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        x[q] = to_float(n[q]) + pseudo[q];
        sum += x[q];
      }
      const float inverse = reciprocal(fmaxf(sum, 1e-24f));
      if constexpr (!kLogarithms) {
        const float excess = fmaf(-factor[0], sum, x[0]), deviation = excess * inverse;
        bound = fmaf(excess * deviation, fmaf(factor[2], deviation * deviation, factor[1]), bound);
      } else {
#pragma unroll
        for (int q = 0; q < kClasses; ++q) bound += information_of(x[q], x[q] * inverse * factor[q]);
      }
    };
    if constexpr (kHoldsSquares) {
      now = next;
      of_squares.load(min(row + 1, batch.n_rows - 1), next);
      bound = of_squares.squares(now, strip_rows.cells[row - strip_row]);
    } else if constexpr (kHoldsProducts) {
      // The first member's levels from 1 on; their sum is subtracted from the count with that member open, which leaves
      // level 0.
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
        // Level 0 of the other members: the count with the member open, less its other levels.
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
          cell_of_prefix(level * kHeldCells + cell).for_cells_of(held[cell], add_bound);
        }
      }
    } else {
#pragma unroll 1
      for (int cell = 0; cell < prefix.cells(); ++cell) for_cells_in(cell, add_bound);
    }
    const i64 of_row = first_variable + row;
    const auto others_of = [&](float row_best, float row_rest) {
      return of_both(row_best + column_information, fmaxf(row_rest, column_rest));
    };
    if constexpr (kHoldsSquares) {
      const int i = row - strip_row;
      const float others = others_of(strip_rows.best[i], strip_rows.rest[i]);
      if (sum_bound.upper(bound) < of_both(column_best + strip_rows.information[i], others)) continue;
    } else {
      const float row_best = tile.only_last_counts ? kNever : __double2float_rd(best[(i64)l * n_groups + rows.group]);
      const float others = others_of(row_best, rest[of_row]);
      if (kNumbers) {
        if (sum_bound.upper(bound) < of_both(column_best + information[of_row], others)) continue;
      } else {
        if (fmaf(bound, kInflation, tolerance) < of_both(column_best, others - information[of_row])) continue;
      }
    }
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
      for_cells_in(cell, [&](int a, int b, const int (&n)[kClasses], const float (&)[kRowFactors]) {
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          of_survivor[((cell * kRowLevels + a) * kColumnLevels + b) * kClasses + q] = (u32)n[q];
        }
      });
    }
  }
}
