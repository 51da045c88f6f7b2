// tuples → exact gains, and those that are maxima
//
// A warp takes a tuple: its threads count the cells, look up x·log2(x) in the host's fixed-point tables and add
// integers, as the CPU does (core/include/interplay/information_gain.hpp), so the gains are the same bits.
//
// Compiled once for each combination of DIMENSIONS and CLASSES.
#include "tuple_counts.cuh"
#include "tuple_tiles.cuh"

namespace interplay {

constexpr int kDimensions = DIMENSIONS, kClasses = CLASSES;

// Tables of x·log2(x): for each multiplicity of the pseudocounts, one per class and one for all classes.
struct Tables {
  const i64* values;
  const i64* start;  // [n_multiplicities][kClasses + 1]

  // Information of a cell; multiplicity 0 is a cell of the whole tuple, others are by number of levels.
  __device__ __forceinline__ i64 information(int multiplicity, const u32 (&counts)[kClasses]) const {
    const i64* begin = start + multiplicity * (kClasses + 1);
    u32 n = 0;
    i64 sum = 0;
#pragma unroll
    for (int q = 0; q < kClasses; ++q) {
      sum += values[begin[q] + counts[q]];
      n += counts[q];
    }
    return sum - values[begin[kClasses] + n];
  }
};

// Counts of a tuple of two-level variables with two classes of less than 2^16 samples, the common case. Each thread
// looks at samples of its own and counts all cells, both classes in one word; then the threads add up so that thread c
// has the sum of cell c (numbered with the last variable's level running fastest).
__device__ __forceinline__ u32 two_level_counts(const u32* const (&row)[kDimensions],
                                                const i64 (&level_stride)[kDimensions], int n_steps, int steps_of_0) {
  constexpr int kCells = 1 << kDimensions;
  const int lane = threadIdx.x & 31;
  u32 sums[kCells];
#pragma unroll
  for (int cell = 0; cell < kCells; ++cell) sums[cell] = 0;
  for (int pair = lane; pair < n_steps * 4; pair += 32) {
    const int shift = pair < steps_of_0 * 4 ? 16 : 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int place = pair / 4 * kWordsPerFragment + pair % 4 * 4 + half * 2;
      u32 masks[kCells];
      masks[1] = row[0][level_stride[0] + place];
      masks[0] = row[0][place];
#pragma unroll
      for (int j = 1; j < kDimensions; ++j) {
        const u32 ones = row[j][level_stride[j] + place];
#pragma unroll
        for (int cell = kCells / 2 - 1; cell >= 0; --cell) {
          if (cell < 1 << j) {
            const u32 mask = masks[cell];
            masks[2 * cell + 1] = mask & ones;
            masks[2 * cell] = mask & ~ones;
          }
        }
      }
#pragma unroll
      for (int cell = 0; cell < kCells; ++cell) sums[cell] += __popc(masks[cell]) << shift;
    }
  }
  // Half of the cells go to the threads of the other half, until each has one.
#pragma unroll
  for (int j = 0; j < kDimensions; ++j) {
    const int half = kCells >> (j + 1);
    const bool upper = lane & half;
#pragma unroll
    for (int cell = 0; cell < kCells / 2; ++cell) {
      if (cell < half) {
        const u32 sent = upper ? sums[cell] : sums[cell + half], kept = upper ? sums[cell + half] : sums[cell];
        sums[cell] = kept + __shfl_xor_sync(~0u, sent, half);
      }
    }
  }
  u32 sum = sums[0];
  for (int other = kCells; other < 32; other *= 2) sum += __shfl_xor_sync(~0u, sum, other);
  return sum;
}

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

// n_tuples: the smaller of *n_found and capacity.
// A gain that reaches the best of its slot so far is noted in `candidates`, which has room for all.
// two_level_counting: whether all variables have two levels, and both classes less than 2^16 samples
extern "C" __global__ void score_tuples(const u32* planes, int n_steps, const int* class_steps, const int* lane_first,
                                        const int* lane_levels, const int* lane_rows, const i64* lane_row,
                                        const i64* table_values, const i64* table_start,
                                        const int* multiplicity_of_levels, double unit, double least_gain,
                                        const Tile<kDimensions>* tiles, const int* tuples, const u32* n_found,
                                        u32 capacity, double* best, int n_groups, int max_cells, int two_level_counting,
                                        int* candidate_slots, int* candidate_tuples, double* candidate_gains,
                                        u32* n_candidates) {
  extern __shared__ u32 memory[];
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, n_warps = blockDim.x / 32;
  u32* counts = memory + warp * max_cells * kClasses;
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Tables tables = {table_values, table_start};
  const u32 n_tuples = min(*n_found, capacity);

  for (u32 number = blockIdx.x * n_warps + warp; number < n_tuples; number += gridDim.x * n_warps) {
    const int* tuple = tuples + (i64)number * (1 + kDimensions);
    const Tile<kDimensions>& tile = tiles[tuple[0]];
    const u32* row[kDimensions];
    i64 level_stride[kDimensions];
    int n_levels[kDimensions], n_cells = 1;
#pragma unroll
    for (int j = 0; j < kDimensions; ++j) {
      const int block = tile.places[j].lane_block;
      row[j] = planes + word_index(lanes.row(block, tuple[1 + j], 0), n_steps, 0);
      level_stride[j] = (i64)lane_rows[block] / kRowsPerFragment * n_steps * kWordsPerFragment;
      n_levels[j] = lane_levels[block];
      n_cells *= n_levels[j];
    }

    if (kClasses == 2 && kDimensions <= 5 && two_level_counting) {
      if constexpr (kDimensions <= 5) {
        const u32 both = two_level_counts(row, level_stride, n_steps, class_steps[1]);
        if (lane < n_cells) {
          counts[lane * kClasses] = both >> 16;
          counts[lane * kClasses + 1] = both & 0xFFFF;
        }
      }
    } else {
      // Cells are numbered with the last variable's level running fastest. Where there are few, several threads count a
      // cell, each every so many words of it.
      int threads_per_cell = 1;
      while (threads_per_cell < 32 && 2 * threads_per_cell * n_cells <= 32) threads_per_cell *= 2;
      const int cells_at_once = 32 / threads_per_cell, share = lane % threads_per_cell;
      for (int first = 0; first < n_cells; first += cells_at_once) {
        const int cell = first + lane / threads_per_cell;
        const u32* plane[kDimensions];
        int rest = min(cell, n_cells - 1);
#pragma unroll
        for (int j = kDimensions - 1; j >= 0; --j) {
          plane[j] = row[j] + (rest % n_levels[j]) * level_stride[j];
          rest /= n_levels[j];
        }
#pragma unroll
        for (int q = 0; q < kClasses; ++q) {
          u32 count = 0;
          // Words t and t + 4 of a step lie two apart.
          for (int pair = class_steps[q] * 4 + share; pair < class_steps[q + 1] * 4; pair += threads_per_cell) {
            const int place = pair / 4 * kWordsPerFragment + pair % 4 * 4;
            u32 low = plane[0][place], high = plane[0][place + 2];
#pragma unroll
            for (int j = 1; j < kDimensions; ++j) {
              low &= plane[j][place];
              high &= plane[j][place + 2];
            }
            count += __popc(low) + __popc(high);
          }
          for (int other = 1; other < threads_per_cell; other *= 2) count += __shfl_xor_sync(~0u, count, other);
          if (share == 0 && cell < n_cells) counts[cell * kClasses + q] = count;
        }
      }
    }
    __syncwarp();

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
      inner /= n_levels[j];
      if (tile.only_last_counts && j + 1 < kDimensions) continue;
      i64 without = 0;
      for (int merged = lane; merged < n_cells / n_levels[j]; merged += 32) {
        const int first = merged / inner * inner * n_levels[j] + merged % inner;
        u32 of_cell[kClasses];
#pragma unroll
        for (int q = 0; q < kClasses; ++q) of_cell[q] = 0;
        for (int level = 0; level < n_levels[j]; ++level) {
#pragma unroll
          for (int q = 0; q < kClasses; ++q) of_cell[q] += counts[(first + level * inner) * kClasses + q];
        }
        without += tables.information(multiplicity_of_levels[n_levels[j]], of_cell);
      }
      without = sum_over_warp(without);
      if (lane == 0) {
        const double gain = (double)(whole - without) * unit;
        const int slot = tuple[1 + j] * n_groups + tile.places[j].group;
        if (gain > least_gain && gain >= *(volatile double*)(best + slot)) {
          raise(best + slot, gain);
          const u32 place = atomicAdd(n_candidates, 1u);
          candidate_slots[place] = slot;
          candidate_tuples[place] = (int)number;
          candidate_gains[place] = gain;
        }
      }
    }
    __syncwarp();
  }
}
