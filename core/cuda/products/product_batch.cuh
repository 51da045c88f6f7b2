// a batch of prefixes × rows × columns of a tile → masks: how they are numbered, which of them matter
//
// Where samples are many, or levels more than two, the counts of a batch go through memory. First the samples of every
// pattern of the prefixes are made as masks (product_masks.cu). Then every pair of planes is counted with every mask by
// binary matrix products (tuple_products.cu). Then the cells of each tuple follow by subtraction, and its gain is
// bounded (product_bound.cu). A pattern gives each member of the prefix a level from 1 on, or leaves it open; a pattern
// with open members is counted once for all variables that may stand there.
//
// With NUMBERS, of a number outcome, there are two "classes": the samples, and the sum of their scores, a signed
// number. Both add up over cells, so that all that follows is the same. Where both fit into a word (PAIRED_COUNTS), the
// samples are in its lowest COUNT_BITS, and the sum above them.
#pragma once

#include "tuples/tuple_tiles.cuh"

namespace interplay {

constexpr int kMostPrefix = 3;
#ifdef NUMBERS
constexpr bool kNumbers = true;
#else
constexpr bool kNumbers = false;
#endif
#ifdef COUNT_BITS
constexpr int kCountBits = COUNT_BITS;
#else
constexpr int kCountBits = 0;
#endif

// As the host lays it out, without padding.
struct Batch {
  int tile, n_prefix;
  int prefix_begin[kMostPrefix], prefix_size[kMostPrefix], prefix_lane[kMostPrefix];  // positions, lane block
  int first_row, n_rows, row_lane;  // n_rows: whole fragments, from one on
  int first_column, n_columns, column_lane;

  __device__ __forceinline__ int upper_levels(const LaneBlocks& lanes, int place) const {
    return lanes.n_levels[prefix_lane[place]] - 1;
  }
  // Open, or a level from 1 on of one of the variables.
  __device__ __forceinline__ int n_choices(const LaneBlocks& lanes, int place) const {
    return 1 + prefix_size[place] * upper_levels(lanes, place);
  }
  __device__ __forceinline__ int n_masks(const LaneBlocks& lanes) const {
    int n = 1;
    for (int j = 0; j < n_prefix; ++j) n *= n_choices(lanes, j);
    return n;
  }
  __device__ __forceinline__ int row_planes(const LaneBlocks& lanes) const {
    return (lanes.n_levels[row_lane] - 1) * n_rows;
  }
  __device__ __forceinline__ int column_planes(const LaneBlocks& lanes) const {
    return (lanes.n_levels[column_lane] - 1) * n_columns;
  }
  // The planes of a batch lie by sixteen variables, and of these level after level, from 1 on: so a block of threads
  // has few variables, of which many tuples ascend. The first position of a fragment:
  __device__ __forceinline__ int row_position(const LaneBlocks& lanes, int fragment) const {
    return first_row + fragment / (lanes.n_levels[row_lane] - 1) * kRowsPerFragment;
  }
  __device__ __forceinline__ int column_position(const LaneBlocks& lanes, int fragment) const {
    return first_column + fragment / (lanes.n_levels[column_lane] - 1) * kRowsPerFragment;
  }
  // Its first row in the planes:
  __device__ __forceinline__ i64 row_fragment(const LaneBlocks& lanes, int fragment) const {
    const int upper = lanes.n_levels[row_lane] - 1;
    return lanes.row(row_lane, row_position(lanes, fragment), 1 + fragment % upper);
  }
  __device__ __forceinline__ i64 column_fragment(const LaneBlocks& lanes, int fragment) const {
    const int upper = lanes.n_levels[column_lane] - 1;
    return lanes.row(column_lane, column_position(lanes, fragment), 1 + fragment % upper);
  }

  // The last of the positions that a mask names (−1 if all are open), or a large number where they do not ascend.
  // The last place varies fastest.
  __device__ __forceinline__ int last_position(const LaneBlocks& lanes, int mask) const {
    int after = 1 << 30, last = -1;
    for (int j = n_prefix - 1; j >= 0; --j) {
      const int n = n_choices(lanes, j), choice = mask % n;
      mask /= n;
      if (choice == 0) continue;
      const int position = prefix_begin[j] + (choice - 1) / upper_levels(lanes, j);
      if (position >= after) return 1 << 30;
      after = position;
      last = max(last, position);
    }
    return last;
  }
};

// The plane of a variable's level, from 1 on, among those of a batch; variable: counted from the batch's first.
__device__ __forceinline__ int plane_of(int variable, int level, int n_levels) {
  return (variable / kRowsPerFragment * (n_levels - 1) + level - 1) * kRowsPerFragment + variable % kRowsPerFragment;
}

}  // namespace interplay
