// tuples → exact gains; gains that are maxima, or above a threshold, become candidates
//
// A warp takes a tuple, or several (tuple_cells.cuh): its threads count the cells, look up x·log2(x) in the host's
// fixed-point tables and add integers, as the CPU does (core/include/interplay/information_gain.hpp), so the gains are
// the same bits.
//
// Of a number outcome, the squares of sums are added up instead, and the information follows from their sum alone
// (sum_information.cuh).
//
// Compiled once for each combination of DIMENSIONS, CLASSES, LEVELS, NUMBERS and THREADS_OF_TUPLE (tuple_cells.cuh),
// with EVERY_MEMBER (every_member.cuh) and without.
#include "information/sum_information.cuh"
#include "information/tuple_scores.cuh"
#include "tuples/every_member.cuh"

namespace interplay {

// What cells of one multiplicity tell: an information, or a square.
#ifdef NUMBERS
using Scores = SumModel;
__device__ __forceinline__ i64 score_of(const SumModel& model, const u32 (&cell)[kClasses]) {
  return model.square(cell[0], cell[kClasses - 1]);
}
#else
using Scores = Tables::OfCells;
__device__ __forceinline__ i64 score_of(const Tables::OfCells& tables, const u32 (&cell)[kClasses]) {
  return tables.information(cell);
}
#endif

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

// table_values, table_start: as Tables; of a number outcome, table_values as SumModel
// given_counts: where they are known already, those of each tuple from a multiple of given_stride on
// n_tuples: the smaller of *n_found and capacity.
// best: [position * n_groups + group]. As maxima, a gain that reaches the best of its slot so far raises it and is
// noted in the candidates; as thresholds (`best_is_fixed`), gains above them are noted. Where every member must gain,
// best are thresholds, and a tuple is noted once, with the gain of its last member, if all gains reach theirs.
extern "C" __global__ void __launch_bounds__(kThreadsOfScores, kBlocksOfScores)
    score_tuples(const u32* planes, int n_steps, const int* class_steps, const int* lane_first, const int* lane_levels,
                 const int* lane_rows, const i64* lane_row, const i64* table_values, const i64* table_start,
                 const int* multiplicity_of_levels, double unit, const Tile<kDimensions>* tiles, const int* tuples,
                 const u32* n_found, u32 capacity, double* best, int best_is_fixed, int n_groups, int max_cells,
                 int paired, const u32* given_counts, int given_stride, int* candidate_slots, int* candidate_tuples,
                 double* candidate_gains, u32* n_candidates) {
  extern __shared__ u32 memory[];
  const int lane = lane_of_group();
  u32* counts = memory + threadIdx.x / kGroup * max_cells * kClasses;
  const Planes all = {planes, n_steps, class_steps, {lane_first, lane_levels, lane_rows, lane_row}};
  const Candidates candidates = {candidate_slots, candidate_tuples, candidate_gains, n_candidates};
  const u32 n_tuples = min(*n_found, capacity);
#ifdef NUMBERS
  const SumModel of_all(table_values);
  const auto scores_of = [&](int) { return of_all; };
#else
  const Tables tables = {table_values, table_start};
  const Scores of_all = tables.at(0);
  const auto scores_of = [&](int n_levels) { return tables.at(multiplicity_of_levels[n_levels]); };
#endif
  const Scores of_one_less = kCountsTogether ? scores_of(kLevels) : of_all;

  for (TuplesOfWarp of_warp(n_tuples); of_warp.has_any(); of_warp.next()) {
    const u32 number = of_warp.number();
    const int* tuple = tuples + (i64)number * (1 + kDimensions);
    const Tile<kDimensions>& tile = tiles[tuple[0]];
    const Members members(all, tile, tuple + 1);
    const int n_cells = members.n_cells;
    if (given_counts != nullptr) {
      const u32* given = given_counts + (i64)number * given_stride;
      for (int i = lane; i < n_cells * kClasses; i += kGroup) counts[i] = given[i];
      __syncwarp();
    } else {
      members.count_cells(all, paired, counts);
    }

    // The information of all members, and of all but each one: first the sums of each thread.
    i64 informations[1 + kDimensions];
#pragma unroll
    for (int i = 0; i <= kDimensions; ++i) informations[i] = 0;
#pragma unroll 1
    for (int cell = lane; cell < n_cells; cell += kGroup) {
      u32 of_cell[kClasses];
#pragma unroll
      for (int q = 0; q < kClasses; ++q) of_cell[q] = counts[cell * kClasses + q];
      informations[0] += score_of(of_all, of_cell);
    }
    int inner = n_cells;  // cells between two levels of variable j
#pragma unroll
    for (int j = 0; j < kDimensions; ++j) {
      const int n_levels = members.n_levels[j];
      inner /= n_levels;
      if (tile.only_last_counts && j + 1 < kDimensions) continue;
      const Scores of_merged = kCountsTogether ? of_one_less : scores_of(n_levels);
#pragma unroll 1
      for (int merged = lane; merged < n_cells / n_levels; merged += kGroup) {
        const int first = merged / inner * inner * n_levels + merged % inner;
        u32 of_cell[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) of_cell[q] = 0;
        for (int level = 0; level < n_levels; ++level) {
#pragma unroll
          for (int q = 0; q < kClasses; ++q) of_cell[q] += counts[(first + level * inner) * kClasses + q];
        }
        informations[1 + j] += score_of(of_merged, of_cell);
      }
    }
    // A thread goes on with member j.
    const GroupSums<i64, 1 + kDimensions> sums(informations);
    static_assert(sums.kHeld == 1, "a thread for each member");
#ifdef NUMBERS
    const i64 information = of_all.information(sums.sums[0]);
#else
    const i64 information = sums.sums[0];
#endif
    const i64 whole = __shfl_sync(~0u, information, 0, kGroup);
    const int j = sums.first() - 1;
    const bool is_of_member = lane % sums.kSharers == 0 && j >= 0 && j < kDimensions && of_warp.is_one();
    const bool is_asked = is_of_member && (!tile.only_last_counts || j + 1 == kDimensions);
    const double gain = (double)(whole - information) * unit;
    const int slot = is_asked ? tuple[1 + j] * n_groups + tile.places[j].group : 0;
    if (kEveryMember) {
      const u32 fails = __ballot_sync(~0u, is_asked && !(gain >= best[slot]));
      const bool every_gains = (fails >> (threadIdx.x & 31) / kGroup * kGroup & (~0u >> (32 - kGroup))) == 0;
      if (every_gains && is_asked && j + 1 == kDimensions) candidates.add(slot, number, gain);
    } else if (is_asked && best_is_fixed) {
      if (gain > best[slot]) candidates.add(slot, number, gain);
    } else if (is_asked && gain >= *(volatile double*)(best + slot)) {
      raise(best + slot, gain);
      candidates.add(slot, number, gain);
    }
    __syncwarp();
  }
}

// Candidates that still are the best of their slots, into a table of one tuple for each slot: its gain, and its
// members' rows in ascending order. Of equal gains the lowest tuple stays. kept_gains, kept_tuples: at first all ones,
// no number and no row; locks: zeros
extern "C" __global__ void keep_best(const int* candidate_slots, const int* candidate_tuples,
                                     const double* candidate_gains, const u32* n_candidates, const double* best,
                                     const int* tuples, const int* order, volatile double* kept_gains,
                                     volatile int* kept_tuples, int* locks) {
  const u32 end = *n_candidates, stride = gridDim.x * blockDim.x;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride) {
    const int slot = candidate_slots[i];
    const double gain = candidate_gains[i];
    if (gain != best[slot]) continue;
    const int* positions = tuples + (i64)candidate_tuples[i] * (1 + kDimensions) + 1;
    int members[kDimensions];
#pragma unroll
    for (int j = 0; j < kDimensions; ++j) members[j] = order[positions[j]];
#pragma unroll
    for (int end_of_sorted = kDimensions - 1; end_of_sorted > 0; --end_of_sorted)
#pragma unroll
      for (int j = 0; j < end_of_sorted; ++j) {
        const int low = min(members[j], members[j + 1]), high = max(members[j], members[j + 1]);
        members[j] = low, members[j + 1] = high;
      }
    volatile int* kept = kept_tuples + (i64)slot * kDimensions;
    for (bool is_done = false; !is_done;) {
      if (atomicCAS(locks + slot, 0, 1) != 0) continue;
      __threadfence();
      const double before = kept_gains[slot];
      bool is_better = !(before >= gain);
      if (before == gain) {
        bool still_equal = true;
#pragma unroll
        for (int j = 0; j < kDimensions; ++j) {
          const int other = kept[j];
          is_better = is_better || (still_equal && members[j] < other);
          still_equal = still_equal && members[j] == other;
        }
      }
      if (is_better) {
        kept_gains[slot] = gain;
#pragma unroll
        for (int j = 0; j < kDimensions; ++j) kept[j] = members[j];
      }
      __threadfence();
      atomicExch(locks + slot, 0);
      is_done = true;
    }
  }
}
