// tuples → exact gains, and those that are maxima or above a threshold
//
// A warp takes a tuple: its threads count the cells, look up x·log2(x) in the host's fixed-point tables and add
// integers, as the CPU does (core/include/interplay/information_gain.hpp), so the gains are the same bits.
//
// Compiled once for each combination of DIMENSIONS and CLASSES.
#include "tuple_scores.cuh"

namespace interplay {

// Gains are finite; as unsigned numbers in this form they sort like the gains.
__device__ __forceinline__ u64 sortable(double value) {
  const u64 bits = (u64)__double_as_longlong(value);
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

__device__ __forceinline__ void raise(double* best, double value) {
  u64* place = (u64*)best;
  u64 seen = *(volatile u64*)place;
  while (sortable(__longlong_as_double((i64)seen)) < sortable(value)) {
    const u64 before = atomicCAS(place, seen, (u64)__double_as_longlong(value));
    if (before == seen) break;
    seen = before;
  }
}

}  // namespace interplay

using namespace interplay;

// given_counts: where they are known already, those of each tuple from a multiple of given_stride on
// n_tuples: the smaller of *n_found and capacity.
// best: [position * n_groups + group]. As maxima, a gain that reaches the best of its slot so far raises it and is
// noted in the candidates; as thresholds (`best_is_fixed`), gains above them are noted.
extern "C" __global__ void score_tuples(const u32* planes, int n_steps, const int* class_steps, const int* lane_first,
                                        const int* lane_levels, const int* lane_rows, const i64* lane_row,
                                        const i64* table_values, const i64* table_start,
                                        const int* multiplicity_of_levels, double unit, const Tile<kDimensions>* tiles,
                                        const int* tuples, const u32* n_found, u32 capacity, double* best,
                                        int best_is_fixed, int n_groups, int max_cells, int two_level_counting,
                                        const u32* given_counts, int given_stride, int* candidate_slots,
                                        int* candidate_tuples, double* candidate_gains, u32* n_candidates) {
  extern __shared__ u32 memory[];
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
  u32* counts = memory + warp * max_cells * kClasses;
  const Planes all = {planes, n_steps, class_steps, {lane_first, lane_levels, lane_rows, lane_row}};
  const Tables tables = {table_values, table_start};
  const Candidates candidates = {candidate_slots, candidate_tuples, candidate_gains, n_candidates};
  const u32 n_tuples = min(*n_found, capacity);

  for (u32 number = blockIdx.x * n_warps + warp; number < n_tuples; number += gridDim.x * n_warps) {
    const int* tuple = tuples + (i64)number * (1 + kDimensions);
    const Tile<kDimensions>& tile = tiles[tuple[0]];
    const Members members(all, tile, tuple + 1);
    const int n_cells = members.n_cells;
    if (given_counts != nullptr) {
      const u32* given = given_counts + (i64)number * given_stride;
      for (int i = lane; i < n_cells * kClasses; i += 32) counts[i] = given[i];
      __syncwarp();
    } else {
      members.count_cells(all, two_level_counting, counts);
    }

    i64 whole = 0;
    for (int cell = lane; cell < n_cells; cell += 32) {
      u32 of_cell[kClasses];
#pragma unroll
      for (int q = 0; q < kClasses; ++q) of_cell[q] = counts[cell * kClasses + q];
      whole += tables.information(0, of_cell);
    }
    whole = sum_over_warp(whole);

    int inner = n_cells;  // cells between two levels of variable j
#pragma unroll
    for (int j = 0; j < kDimensions; ++j) {
      const int n_levels = members.n_levels[j];
      inner /= n_levels;
      if (tile.only_last_counts && j + 1 < kDimensions) continue;
      i64 without = 0;
      for (int merged = lane; merged < n_cells / n_levels; merged += 32) {
        const int first = merged / inner * inner * n_levels + merged % inner;
        u32 of_cell[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) of_cell[q] = 0;
        for (int level = 0; level < n_levels; ++level) {
#pragma unroll
          for (int q = 0; q < kClasses; ++q) of_cell[q] += counts[(first + level * inner) * kClasses + q];
        }
        without += tables.information(multiplicity_of_levels[n_levels], of_cell);
      }
      without = sum_over_warp(without);
      if (lane == 0) {
        const double gain = (double)(whole - without) * unit;
        const int slot = tuple[1 + j] * n_groups + tile.places[j].group;
        if (best_is_fixed) {
          if (gain > best[slot]) candidates.add(slot, number, gain);
        } else if (gain >= *(volatile double*)(best + slot)) {
          raise(best + slot, gain);
          candidates.add(slot, number, gain);
        }
      }
    }
    __syncwarp();
  }
}

// The candidates first … end that still are the best of their slots, appended to those kept before: the slot, the gain,
// and the members' rows in ascending order. n_kept may exceed the room: what is beyond it is not written.
extern "C" __global__ void keep_candidates(const int* candidate_slots, const int* candidate_tuples,
                                           const double* candidate_gains, const u32* n_candidates, u32 first, u32 end,
                                           const double* best, const int* tuples, const int* order, int* kept_slots,
                                           int* kept_tuples, double* kept_gains, u32* n_kept, u32 room) {
  const u32 last = min(end, *n_candidates), stride = gridDim.x * blockDim.x;
  for (u32 i = first + blockIdx.x * blockDim.x + threadIdx.x; i < last; i += stride) {
    const int slot = candidate_slots[i];
    if (candidate_gains[i] != best[slot]) continue;
    const u32 place = atomicAdd(n_kept, 1u);
    if (place >= room) continue;
    kept_slots[place] = slot;
    kept_gains[place] = candidate_gains[i];
    const int* positions = tuples + (i64)candidate_tuples[i] * (1 + kDimensions) + 1;
    int* members = kept_tuples + (i64)place * kDimensions;
    for (int j = 0; j < kDimensions; ++j) {
      const int member = order[positions[j]];
      int at = j;
      for (; at > 0 && members[at - 1] > member; --at) members[at] = members[at - 1];
      members[at] = member;
    }
  }
}
