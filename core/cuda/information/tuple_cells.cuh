// tuple → counts of its cells, by some threads of a warp
//
// Needs DIMENSIONS, CLASSES and
//   LEVELS              of every variable; 0 if they differ, or are so many that counting them together does not pay
//   NUMBERS             of a number outcome: two "classes", of which the first are the samples of a cell and the second
//                       is the sum of their scores, a signed number; then CLASSES is 2
//   THREADS_OF_TUPLE    8 or 32: few where all variables have the same few levels, so that four tuples share what
//                       a warp does besides counting
#pragma once

#include "planes/tuple_counts.cuh"
#include "tuples/tuple_tiles.cuh"

namespace interplay {

constexpr int kDimensions = DIMENSIONS, kClasses = CLASSES, kLevels = LEVELS, kGroup = THREADS_OF_TUPLE;
static_assert(kGroup == 32 || kLevels >= 2, "tuples of one warp have as many cells");
#ifdef NUMBERS
constexpr bool kNumbers = true;
#else
constexpr bool kNumbers = false;
#endif

__host__ __device__ constexpr int power(int base, int exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}

// The number of a thread among those of its tuple.
__device__ __forceinline__ int lane_of_group() { return threadIdx.x % kGroup; }

// Planes of all variables.
struct Planes {
  const u32* words;
  int n_steps;
  const int* class_steps;  // [kClasses + 1]; of a number outcome, as DigitOrders.for_tuples has them
  LaneBlocks lanes;

  // The samples of a class. Those of a number outcome are counted in one order, and weighted in all.
  __device__ __forceinline__ int first_step(int q) const {
    if (kNumbers) return q == 0 ? class_steps[0] : 0;
    return class_steps[q];
  }
  __device__ __forceinline__ int end_step(int q) const { return kNumbers ? class_steps[1] : class_steps[q + 1]; }
  // What a sample of a step adds to the number of a class.
  __device__ __forceinline__ u32 weight(int q, int step) const {
    return kNumbers && q > 0 ? (u32)class_steps[2 + step] : 1u;
  }
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
constexpr int kOuterCells = power(kInnerRoom, kOuter);

// Threads of a block at most, and blocks of a multiprocessor: many cells take many registers.
constexpr int kThreadsOfScores = 256, kBlocksOfScores = kInnerCells > 9 ? 2 : 3;

__host__ __device__ constexpr int slots_of(int n) {
  int slots = 1;
  while (slots < n) slots *= 2;
  return slots;
}

// Sums of some values over a group of threads. Half of the values go to the other half of the threads, until each
// thread has kHeld values: from number kHeld · (its number / kSharers) on. Where there are more threads than values,
// kSharers have the same.
template <class Value, int kValues>
struct GroupSums {
  static constexpr int kSlots = slots_of(kValues);
  static constexpr int kHeld = kSlots > kGroup ? kSlots / kGroup : 1;
  static constexpr int kSharers = kSlots < kGroup ? kGroup / kSlots : 1;

  Value sums[kSlots];

  __device__ __forceinline__ explicit GroupSums(const Value (&values)[kValues]) {
#pragma unroll
    for (int i = 0; i < kSlots; ++i) sums[i] = i < kValues ? values[i < kValues ? i : 0] : (Value)0;
#pragma unroll
    for (int round = 0; round < 5; ++round) {
      const int other = kGroup >> (round + 1), half = kSlots >> (round + 1);
      if (other == 0) continue;
      const bool upper = lane_of_group() & other;
      if (half == 0) sums[0] += __shfl_xor_sync(~0u, sums[0], other);
#pragma unroll
      for (int i = 0; i < kSlots / 2; ++i) {
        if (i >= half) continue;
        const Value sent = upper ? sums[i] : sums[i + half], kept = upper ? sums[i + half] : sums[i];
        sums[i] = kept + __shfl_xor_sync(~0u, sent, other);
      }
    }
  }
  // The first of the values whose sums this thread has.
  __device__ __forceinline__ int first() const { return lane_of_group() / kSharers * kHeld; }
};

// The levels of a tuple, and where its planes lie.
struct Members {
  const u32* row[kDimensions];
  i64 level_stride[kDimensions];
  bool is_upper[kDimensions];  // among the last eight rows of its fragment
  int n_levels[kDimensions], n_cells;

  // positions: [kDimensions]
  __device__ __forceinline__ Members(const Planes& planes, const Tile<kDimensions>& tile, const int* positions) {
    n_cells = 1;
#pragma unroll
    for (int j = 0; j < kDimensions; ++j) {
      const int block = tile.places[j].lane_block;
      const i64 first_row = planes.lanes.row(block, positions[j], 0);
      row[j] = planes.words + word_index(first_row, planes.n_steps, 0);
      is_upper[j] = first_row % kRowsPerFragment >= kRowsPerFragment / 2;
      level_stride[j] = (i64)planes.lanes.rows_per_level[block] / kRowsPerFragment * planes.n_steps * kWordsPerFragment;
      n_levels[j] = kCountsTogether ? kLevels : planes.lanes.n_levels[block];
      n_cells *= n_levels[j];
    }
  }

  // Counts of all cells, [n_cells][kClasses]; cells are numbered with the last variable's level running fastest.
  // paired: whether there are two classes of less than 2^16 samples
  __device__ __forceinline__ void count_cells(const Planes& planes, bool paired, u32* counts) const {
    const int* class_steps = planes.class_steps;
    if constexpr (kCountsTogether) {
      paired = paired && kClasses == 2 && !kNumbers;
#pragma unroll 1
      for (int outer = 0; outer < kOuterCells; ++outer) {
#pragma unroll 1
        for (int q = 0; q < (paired ? 1 : kClasses); ++q) {
          const int begin = planes.first_step(q) * 4, end = planes.end_step(paired ? kClasses - 1 : q) * 4;
          const auto of_cells = inner_counts(outer, begin, end, [&](int pair) {
            return paired ? (pair < class_steps[1] * 4 ? 1u << 16 : 1u) : planes.weight(q, pair / 4);
          });
#pragma unroll
          for (int i = 0; i < of_cells.kHeld; ++i) {
            const int cell = of_cells.first() + i;
            if (cell >= kInnerCells) continue;
            u32* to = counts + (outer * kInnerCells + cell) * kClasses;
            to[q] = paired ? of_cells.sums[i] >> 16 : of_cells.sums[i];
            if (paired) to[kClasses - 1] = of_cells.sums[i] & 0xFFFF;
          }
        }
      }
    } else {
      for (int first_level = 0; first_level < n_levels[kDimensions - 1]; first_level += kLevelsAtOnce) {
        count_some_levels(planes, first_level, counts);
      }
    }
    __syncwarp();
  }

 private:
  using CellSums = GroupSums<u32, kInnerCells>;

  // Words t and t + 4 of a step, of member j.
  __device__ __forceinline__ uint2 two_words(const u32* plane, int j, int place) const {
    const uint4 of_both_rows = __ldg(reinterpret_cast<const uint4*>(plane - is_upper[j] + place));
    return is_upper[j] ? make_uint2(of_both_rows.y, of_both_rows.w) : make_uint2(of_both_rows.x, of_both_rows.z);
  }

  // The samples of some words, two at a time, in a cell of the first members and each cell of the last.
  // unit_of(pair of words): what each of its samples adds
  template <class UnitOf>
  __device__ __forceinline__ CellSums inner_counts(int outer, int begin, int end, UnitOf unit_of) const {
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
    for (int pair = begin + lane_of_group(); pair < end; pair += kGroup) {
      const u32 unit = unit_of(pair);
      const int place = pair / 4 * kWordsPerFragment + pair % 4 * 4;
      uint2 outer_words = make_uint2(~0u, ~0u), words[kInner][kInnerRoom];
#pragma unroll
      for (int j = 0; j < kOuter; ++j) {
        const uint2 of_member = two_words(plane[j], j, place);
        outer_words = make_uint2(outer_words.x & of_member.x, outer_words.y & of_member.y);
      }
#pragma unroll
      for (int j = 0; j < kInner; ++j)
#pragma unroll
        for (int level = kOuter + j > 0; level < kInnerRoom; ++level) {
          words[j][level] = two_words(row[kOuter + j] + level * level_stride[kOuter + j], kOuter + j, place);
        }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto word_of = [&](int j, int level) { return half ? words[j][level].y : words[j][level].x; };
        u32 masks[kInnerCells];
        if (kOuter > 0) {
          masks[0] = half ? outer_words.y : outer_words.x;
        } else {
          // The plane of level 0 has no bits where there are no samples.
#pragma unroll
          for (int level = 0; level < kInnerRoom; ++level) masks[level] = word_of(0, level);
        }
        int n_masks = kOuter > 0 ? 1 : kInnerRoom;
#pragma unroll
        for (int j = kOuter > 0 ? 0 : 1; j < kInner; ++j, n_masks *= kInnerRoom) {
          u32 any = 0;
#pragma unroll
          for (int level = 1; level < kInnerRoom; ++level) any |= word_of(j, level);
#pragma unroll
          for (int cell = kInnerCells / kInnerRoom - 1; cell >= 0; --cell) {
            if (cell >= n_masks) continue;
            const u32 mask = masks[cell];
#pragma unroll
            for (int level = 1; level < kInnerRoom; ++level) {
              masks[cell * kInnerRoom + level] = mask & word_of(j, level);
            }
            masks[cell * kInnerRoom] = mask & ~any;
          }
        }
#pragma unroll
        for (int cell = 0; cell < kInnerCells; ++cell) sums[cell] += __popc(masks[cell]) * unit;
      }
    }
    return CellSums(sums);
  }

  static constexpr int kLevelsAtOnce = 5;

  // A thread takes the cells that differ by the level of the last variable alone: the AND of the other variables is
  // computed once. Where there are few such groups of cells, several threads share a group, each with every
  // threads_per_group-th word.
  __device__ __forceinline__ void count_some_levels(const Planes& planes, int first_level, u32* counts) const {
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
        for (int pair = planes.first_step(q) * 4 + share; pair < planes.end_step(q) * 4; pair += threads_per_group) {
          const u32 unit = planes.weight(q, pair / 4);
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
            found[i] += (__popc(low & level[0]) + __popc(high & level[2])) * unit;
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
