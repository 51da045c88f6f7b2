// tuple → counts of its cells, by a warp; the tables they are scored with; and where scores are noted
//
// Needs DIMENSIONS, CLASSES and
//   LEVELS              of every variable; 0 if they differ, or are so many that counting them together does not pay
#pragma once

#include "tuple_counts.cuh"
#include "tuple_tiles.cuh"

namespace interplay {

constexpr int kDimensions = DIMENSIONS, kClasses = CLASSES, kLevels = LEVELS;

__host__ __device__ constexpr int power(int base, int exponent) { return exponent > 0 ? base * power(base, exponent - 1) : 1; }

// Tables of x·log2(x): for each multiplicity of the pseudocounts, one per class and one for all classes.
struct Tables {
  const i64* values;
  const i64* start;  // [n_multiplicities][kClasses + 1]

  // Those of the multiplicity of that number.
  struct OfCells {
    const i64* begin[kClasses + 1];

    // Information of a cell.
    __device__ __forceinline__ i64 information(const u32 (&counts)[kClasses]) const {
      u32 n = 0;
      i64 sum = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        sum += __ldg(begin[q] + counts[q]);
        n += counts[q];
      }
      return sum - __ldg(begin[kClasses] + n);
    }
  };
  __device__ __forceinline__ OfCells at(int multiplicity) const {
    OfCells tables;
#pragma unroll
    for (int q = 0; q <= kClasses; ++q) tables.begin[q] = values + start[multiplicity * (kClasses + 1) + q];
    return tables;
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

// Where all variables have the same few levels, a thread looks at samples of its own and counts all cells of the last
// members, up to 32 of them, for one cell of the others at a time.
__host__ __device__ constexpr int inner_members() {
  int n = 0;
  while (n < kDimensions && power(kLevels, n + 1) <= 32) ++n;
  return n;
}
constexpr bool kCountsTogether = kLevels >= 2;
constexpr int kInner = kCountsTogether ? inner_members() : 1, kOuter = kDimensions - kInner;
constexpr int kInnerCells = kCountsTogether ? power(kLevels, kInner) : 1, kInnerRoom = kCountsTogether ? kLevels : 2;

// Threads of a block at most, and blocks of a multiprocessor: many cells take many registers.
constexpr int kThreadsOfScores = 256, kBlocksOfScores = kInnerCells > 16 ? 2 : 3;

__host__ __device__ constexpr int slots_of(int n) {
  int slots = 1;
  while (slots < n) slots *= 2;
  return slots;
}

// Sums of each of the values over the warp: that of value i is returned to the threads whose number is i modulo the
// next power of two. Half of them go to the other half of the threads, until each thread has one.
template <class Value, int kValues>
__device__ __forceinline__ Value sums_over_warp(const Value (&values)[kValues]) {
  constexpr int kSlots = slots_of(kValues);
  static_assert(kSlots <= 32, "a thread for each value");
  const int lane = threadIdx.x & 31;
  Value sums[kSlots];
#pragma unroll
  for (int i = 0; i < kSlots; ++i) sums[i] = i < kValues ? values[i < kValues ? i : 0] : (Value)0;
#pragma unroll
  for (int round = 0; round < 5; ++round) {
    const int half = kSlots >> (round + 1);
    const bool upper = lane & half;
#pragma unroll
    for (int i = 0; i < kSlots / 2; ++i) {
      if (i >= half) continue;
      const Value sent = upper ? sums[i] : sums[i + half], kept = upper ? sums[i + half] : sums[i];
      sums[i] = kept + __shfl_xor_sync(~0u, sent, half);
    }
  }
  Value sum = sums[0];
#pragma unroll
  for (int other = kSlots; other < 32; other *= 2) sum += __shfl_xor_sync(~0u, sum, other);
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
      n_levels[j] = kCountsTogether ? kLevels : planes.lanes.n_levels[block];
      n_cells *= n_levels[j];
    }
  }

  // Counts of all cells, [n_cells][kClasses]; cells are numbered with the last variable's level running fastest.
  // both_in_a_word: whether there are two classes of less than 2^16 samples
  __device__ __forceinline__ void count_cells(const Planes& planes, bool both_in_a_word, u32* counts) const {
    const int* class_steps = planes.class_steps;
    if constexpr (kCountsTogether) {
      const int lane = threadIdx.x & 31;
      both_in_a_word = both_in_a_word && kClasses == 2;
#pragma unroll 1
      for (int outer = 0; outer < power(kLevels, kOuter); ++outer) {
        u32* to = counts + (outer * kInnerCells + lane) * kClasses;
#pragma unroll 1
        for (int q = 0; q < (both_in_a_word ? 1 : kClasses); ++q) {
          const int begin = class_steps[q] * 4, end = class_steps[both_in_a_word ? kClasses : q + 1] * 4;
          const u32 sum = inner_counts(outer, begin, end, both_in_a_word ? class_steps[1] * 4 : 0);
          if (lane >= kInnerCells) continue;
          to[q] = both_in_a_word ? sum >> 16 : sum;
          if (both_in_a_word) to[kClasses - 1] = sum & 0xFFFF;
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
  // The samples of some words, two at a time, in a cell of the first members and each cell of the last: thread c has
  // those of cell c. upper_end: words before it count in the upper half of a sum
  __device__ __forceinline__ u32 inner_counts(int outer, int begin, int end, int upper_end) const {
    const u32* plane[kOuter > 0 ? kOuter : 1];
#pragma unroll
    for (int j = kOuter - 1; j >= 0; --j) {
      plane[j] = row[j] + outer % kInnerRoom * level_stride[j];
      outer /= kInnerRoom;
    }
    u32 sums[kInnerCells];
#pragma unroll
    for (int cell = 0; cell < kInnerCells; ++cell) sums[cell] = 0;
#pragma unroll 1
    for (int pair = begin + (threadIdx.x & 31); pair < end; pair += 32) {
      const u32 unit = pair < upper_end ? 1u << 16 : 1u;
      // Words t and t + 4 of a step lie two apart.
      const int place = pair / 4 * kWordsPerFragment + pair % 4 * 4;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int word = place + half * 2;
        u32 masks[kInnerCells];
        int first_split = kOuter;
        if (kOuter > 0) {
          masks[0] = plane[0][word];
#pragma unroll
          for (int j = 1; j < kOuter; ++j) masks[0] &= plane[j][word];
        } else {
          // The plane of level 0 has no bits where there are no samples.
#pragma unroll
          for (int level = 0; level < kInnerRoom; ++level) masks[level] = row[0][level * level_stride[0] + word];
          first_split = 1;
        }
#pragma unroll
        for (int j = 0; j < kDimensions; ++j) {
          if (j < first_split) continue;
          u32 upper[kInnerRoom], any = 0;
#pragma unroll
          for (int level = 1; level < kInnerRoom; ++level) {
            upper[level] = row[j][level * level_stride[j] + word];
            any |= upper[level];
          }
#pragma unroll
          for (int cell = kInnerCells / kInnerRoom - 1; cell >= 0; --cell) {
            if (cell >= power(kInnerRoom, j - kOuter)) continue;
            const u32 mask = masks[cell];
#pragma unroll
            for (int level = 1; level < kInnerRoom; ++level) masks[cell * kInnerRoom + level] = mask & upper[level];
            masks[cell * kInnerRoom] = mask & ~any;
          }
        }
#pragma unroll
        for (int cell = 0; cell < kInnerCells; ++cell) sums[cell] += __popc(masks[cell]) * unit;
      }
    }
    return sums_over_warp(sums);
  }

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
