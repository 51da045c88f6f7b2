// tuples → a statistic of each, and the members whose threshold it exceeds
//
// As on the CPU (core/include/interplay/tuple_statistic.hpp): a sum of entropies over the subsets of a tuple, in
// integers, so that it is the same bits. A warp takes a tuple, or several
// (tuple_cells.cuh). There is no bound: every tuple is counted.
//
// Compiled once for each combination of DIMENSIONS, CLASSES, LEVELS and THREADS_OF_TUPLE (tuple_cells.cuh).
#include "information/tuple_scores.cuh"

namespace interplay {

// The place of a number in an ascending list that holds it.
__device__ __forceinline__ int place_of(int number, const int* list, int size) {
  int low = 0, high = size;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (list[middle] <= number ? low : high) = middle;
  }
  return low;
}

// Where a combination of levels lies among the cells. which: the members whose levels it is, a bit for each; they are
// numbered with the last one's level running fastest
__device__ __forceinline__ int cell_of(int combination, u32 which, const int (&n_levels)[kDimensions]) {
  int cell = 0, stride = 1;
#pragma unroll
  for (int j = kDimensions - 1; j >= 0; --j) {
    if (which >> j & 1) {
      cell += combination % n_levels[j] * stride;
      combination /= n_levels[j];
    }
    stride *= n_levels[j];
  }
  return cell;
}

}  // namespace interplay

using namespace interplay;

// coefficient_of_size: [kDimensions + 1], of the subsets of that size
// multiplicities: ascending, as many as there are groups of tables
// of_tile: [n_tiles][2]: the sum of entropies before the sum over cells is subtracted, and the divisor of the sum over
// cells, a number of samples; not used with a decision
extern "C" __global__ void __launch_bounds__(kThreadsOfScores, kBlocksOfScores)
    score_statistic(const u32* planes, int n_steps, const int* class_steps, const int* lane_first,
                    const int* lane_levels, const int* lane_rows, const i64* lane_row, const i64* table_values,
                    const i64* table_start, const int* multiplicities, int n_multiplicities, double unit,
                    const i64* coefficient_of_size, int with_decision, const double* of_tile,
                    const Tile<kDimensions>* tiles, const int* tuples, const u32* n_found, u32 capacity,
                    const double* thresholds, int n_groups, int max_cells, int paired, int* candidate_slots,
                    int* candidate_tuples, double* candidate_values, u32* n_candidates) {
  extern __shared__ u32 memory[];
  const int lane = lane_of_group();
  u32* counts = memory + threadIdx.x / kGroup * max_cells * kClasses;
  const Planes all = {planes, n_steps, class_steps, {lane_first, lane_levels, lane_rows, lane_row}};
  const Tables tables = {table_values, table_start};
  const Candidates candidates = {candidate_slots, candidate_tuples, candidate_values, n_candidates};
  const u32 n_tuples = min(*n_found, capacity), whole = (1u << kDimensions) - 1;

  for (TuplesOfWarp of_warp(n_tuples); of_warp.has_any(); of_warp.next()) {
    const u32 number = of_warp.number();
    const int* tuple = tuples + (i64)number * (1 + kDimensions);
    const Tile<kDimensions>& tile = tiles[tuple[0]];
    const Members members(all, tile, tuple + 1);
    members.count_cells(all, paired, counts);

    i64 parts[1] = {0};
    for (u32 subset = 1; subset <= whole; ++subset) {
      const i64 coefficient = coefficient_of_size[__popc(subset)];
      if (coefficient == 0) continue;
      int n_cells = 1;
#pragma unroll
      for (int j = 0; j < kDimensions; ++j) n_cells *= subset >> j & 1 ? members.n_levels[j] : 1;
      const int n_gathered = members.n_cells / n_cells, table = place_of(n_gathered, multiplicities, n_multiplicities);
      i64 of_subset = 0;
      for (int merged = lane; merged < n_cells; merged += kGroup) {
        const int first = cell_of(merged, subset, members.n_levels);
        u32 of_cell[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) of_cell[q] = 0;
        for (int gathered = 0; gathered < n_gathered; ++gathered) {
          const int cell = first + cell_of(gathered, whole & ~subset, members.n_levels);
#pragma unroll
          for (int q = 0; q < kClasses; ++q) of_cell[q] += counts[cell * kClasses + q];
        }
        of_subset += with_decision ? tables.at(table).information(of_cell) : tables.of_class_0(table, of_cell[0]);
      }
      parts[0] += coefficient * of_subset;
    }
    const i64 sum = GroupSums<i64, 1>(parts).sums[0];

    if (lane == 0 && of_warp.is_one()) {
      // Each operation rounded by itself, as on the CPU: the compiler would fuse them.
      const double bits = (double)sum * unit;
      const double value =
          with_decision ? -bits : __dsub_rn(of_tile[2 * tuple[0]], __ddiv_rn(bits, of_tile[2 * tuple[0] + 1]));
#pragma unroll
      for (int j = 0; j < kDimensions; ++j) {
        const int slot = tuple[1 + j] * n_groups + tile.places[j].group;
        if (value > thresholds[slot]) candidates.add(slot, number, value);
      }
    }
    __syncwarp();
  }
}
