// a batch of prefixes × rows × columns of a tile → masks: how they are numbered, which of them matter
//
// Where samples are many, or levels more than two, the counts of a batch go through memory: first the samples of every
// pattern of the prefixes are made as masks (product_masks.cu), then every pair of planes is counted with every mask by
// binary matrix products (tuple_products.cu), then the cells of each tuple follow by subtraction, and its gain is
// bounded (product_bound.cu). A pattern gives each member of the prefix a level from 1 on, or leaves it open; what
// leaves members open is counted once for all variables that may stand there.
#pragma once

#include "tuple_tiles.cuh"

namespace interplay {

constexpr int kMostPrefix = 3;

// As the host lays it out, without padding.
struct Batch {
  int tile, n_prefix;
  int prefix_begin[kMostPrefix], prefix_size[kMostPrefix], prefix_lane[kMostPrefix];  // positions, lane block
  int first_row, n_rows, row_lane;              // n_rows: whole fragments, from one on
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
  // The first row of the planes' fragment: planes of a batch lie level after level, from 1 on.
  __device__ __forceinline__ i64 row_fragment(const LaneBlocks& lanes, int fragment) const {
    const int per_level = n_rows / kRowsPerFragment;
    return lanes.row(row_lane, first_row + fragment % per_level * kRowsPerFragment, 1 + fragment / per_level);
  }
  __device__ __forceinline__ i64 column_fragment(const LaneBlocks& lanes, int fragment) const {
    const int per_level = n_columns / kRowsPerFragment;
    return lanes.row(column_lane, first_column + fragment % per_level * kRowsPerFragment, 1 + fragment / per_level);
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

}  // namespace interplay
