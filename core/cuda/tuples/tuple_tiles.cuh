// tiles → work for blocks of threads
//
// A tile names a range of variables for each place of a tuple. Its last two places span a rectangle, cut into pieces of
// kBlockRows × kBlockColumns pairs; its other places are the prefix. An item of work is a piece with some of the
// prefixes.
#pragma once

#include "planes/tuple_counts.cuh"

namespace interplay {

// How the variables lie in the planes: those of a lane block one after the other, level after level.
struct LaneBlocks {
  const int* first_position;  // of each lane block, in the order of the tiles
  const int* n_levels;
  const int* rows_per_level;
  const i64* first_row;

  __device__ __forceinline__ i64 row(int block, int position, int level) const {
    return first_row[block] + (i64)level * rows_per_level[block] + (position - first_position[block]);
  }
};

// One place of a tile.
struct Place {
  int begin, end;  // positions
  int lane_block;
  int group;  // of equal degrees of freedom, for the variable at this place
};

// A tile, as the host lays it out, without padding.
template <int kDimensions>
struct Tile {
  Place places[kDimensions];
  int only_last_counts;  // tuples of a contrast variable: the others have nothing to gain
};

}  // namespace interplay
