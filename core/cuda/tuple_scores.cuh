// tuple → counts of its cells, by a warp; the tables they are scored with; and where scores are noted
//
// Needs DIMENSIONS and CLASSES.
#pragma once

#include "tuple_counts.cuh"
#include "tuple_tiles.cuh"

namespace interplay {

constexpr int kDimensions = DIMENSIONS, kClasses = CLASSES;

// Tables of x·log2(x): for each multiplicity of the pseudocounts, one per class and one for all classes.
struct Tables {
  const i64* values;
  const i64* start;  // [n_multiplicities][kClasses + 1]

  // Information of a cell with the pseudocounts of the multiplicity of that number.
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

  // x·log2(x) of a cell, where there is no decision.
  __device__ __forceinline__ i64 of_class_0(int multiplicity, u32 count) const {
    return values[start[multiplicity * (kClasses + 1)] + count];
  }
};

// Scores that matter: the slot (position and group) of the variable, the number of the tuple, and the score.
struct Candidates {
  int* slots;
  int* tuples;
  double* scores;
  u32* n_found;  // there is room for all

  __device__ __forceinline__ void add(int slot, u32 tuple, double score) const {
    const u32 place = atomicAdd(n_found, 1u);
    slots[place] = slot;
    tuples[place] = (int)tuple;
    scores[place] = score;
  }
};

// Planes of all variables.
struct Planes {
  const u32* words;
  int n_steps;
  const int* class_steps;  // [kClasses + 1]
  LaneBlocks lanes;
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

// The levels of a tuple, and where its planes lie.
struct Members {
  const u32* row[kDimensions];
  i64 level_stride[kDimensions];
  int n_levels[kDimensions], n_cells;

  // positions: [kDimensions]
  __device__ __forceinline__ Members(const Planes& planes, const Tile<kDimensions>& tile, const int* positions) {
    n_cells = 1;
#pragma unroll
    for (int j = 0; j < kDimensions; ++j) {
      const int block = tile.places[j].lane_block;
      row[j] = planes.words + word_index(planes.lanes.row(block, positions[j], 0), planes.n_steps, 0);
      level_stride[j] = (i64)planes.lanes.rows_per_level[block] / kRowsPerFragment * planes.n_steps * kWordsPerFragment;
      n_levels[j] = planes.lanes.n_levels[block];
      n_cells *= n_levels[j];
    }
  }

  // Counts of all cells, [n_cells][kClasses]; cells are numbered with the last variable's level running fastest.
  // two_level_counting: whether all variables have two levels, and both classes less than 2^16 samples
  __device__ __forceinline__ void count_cells(const Planes& planes, bool two_level_counting, u32* counts) const {
    const int lane = threadIdx.x & 31;
    const int* class_steps = planes.class_steps;
    if (kClasses == 2 && kDimensions <= 5 && two_level_counting) {
      if constexpr (kDimensions <= 5) {
        const u32 both = two_level_counts(row, level_stride, planes.n_steps, class_steps[1]);
        if (lane < n_cells) {
          counts[lane * kClasses] = both >> 16;
          counts[lane * kClasses + 1] = both & 0xFFFF;
        }
      }
    } else {
      for (int first_level = 0; first_level < n_levels[kDimensions - 1]; first_level += kLevelsAtOnce) {
        count_some_levels(class_steps, first_level, counts);
      }
    }
    __syncwarp();
  }

 private:
  static constexpr int kLevelsAtOnce = 5;

  // A thread takes the cells that differ by the level of the last variable alone: what they share of the others is
  // found once. Where there are few of these, several threads do, each with every so many words.
  __device__ __forceinline__ void count_some_levels(const int* class_steps, int first_level, u32* counts) const {
    const int lane = threadIdx.x & 31, last_levels = n_levels[kDimensions - 1];
    const int n_groups = n_cells / last_levels, n_counted = min(kLevelsAtOnce, last_levels - first_level);
    int threads_per_group = 1;
    while (threads_per_group < 32 && 2 * threads_per_group * n_groups <= 32) threads_per_group *= 2;
    const int groups_at_once = 32 / threads_per_group, share = lane % threads_per_group;
    const u32* of_last = row[kDimensions - 1] + first_level * level_stride[kDimensions - 1];
    for (int first = 0; first < n_groups; first += groups_at_once) {
      const int group = first + lane / threads_per_group;
      const u32* plane[kDimensions];
      int rest = min(group, n_groups - 1);
#pragma unroll
      for (int j = kDimensions - 2; j >= 0; --j) {
        plane[j] = row[j] + (rest % n_levels[j]) * level_stride[j];
        rest /= n_levels[j];
      }
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        u32 found[kLevelsAtOnce];
#pragma unroll
        for (int i = 0; i < kLevelsAtOnce; ++i) found[i] = 0;
        // Words t and t + 4 of a step lie two apart.
        for (int pair = class_steps[q] * 4 + share; pair < class_steps[q + 1] * 4; pair += threads_per_group) {
          const i64 place = (i64)(pair / 4) * kWordsPerFragment + pair % 4 * 4;
          u32 low = ~0u, high = ~0u;
#pragma unroll
          for (int j = 0; j + 1 < kDimensions; ++j) {
            low &= plane[j][place];
            high &= plane[j][place + 2];
          }
#pragma unroll
          for (int i = 0; i < kLevelsAtOnce; ++i) {
            if (i >= n_counted) break;
            const u32* level = of_last + i * level_stride[kDimensions - 1] + place;
            found[i] += __popc(low & level[0]) + __popc(high & level[2]);
          }
        }
#pragma unroll
        for (int i = 0; i < kLevelsAtOnce; ++i) {
          if (i >= n_counted) break;
          u32 count = found[i];
          for (int other = 1; other < threads_per_group; other *= 2) count += __shfl_xor_sync(~0u, count, other);
          if (share == 0 && group < n_groups) {
            counts[(group * last_levels + first_level + i) * kClasses + q] = count;
          }
        }
      }
    }
  }
};

}  // namespace interplay
