// What a level search knows of the sub-tuples of a tile.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "memory/aligned_buffer.hpp"
#include "simd/lane_kernels.hpp"

namespace interplay {

using Places = std::array<Index, kMaxPrefix>;  // one per place of the prefix

// Counts of a subset of the prefix with every lane, for each choice of a level from 1 on of its members (a pattern),
// and for all variables that its places may hold while those before the first gap stay as they are.
struct LevelTable {
  int subset = 0;                       // places of the prefix, as bits
  int n_leading = 0;                    // places before the first gap
  bool has_information = false;         // one place is missing: the information without it is needed
  int missing = 0;                      // that place
  std::array<int, kMaxPrefix> inner{};  // places after the gap
  int n_inner = 0;
  Index n_patterns = 1;
  Places stride{};                   // of each place in the entries
  AlignedBuffer<LaneCount> lanes;    // entries * patterns * classes * kLanes
  AlignedBuffer<float> information;  // entries * kLanes, lower bounds
  std::vector<std::int32_t> ones;    // entries * patterns * classes: samples that have the pattern

  LevelTable(int subset_, int n_prefix) : subset(subset_), n_leading(std::countr_one(static_cast<unsigned>(subset_))) {
    has_information = std::popcount(static_cast<unsigned>(subset)) == n_prefix - 1;
    missing = n_leading;
    for (int place = n_leading; place < n_prefix; ++place) {
      if (subset >> place & 1) inner[n_inner++] = place;
    }
  }

  void make_room(const Places& size, const LevelShape& shape, Index n_classes) {
    Index n_entries = 1;
    n_patterns = 1;
    stride.fill(0);
    for (int place = shape.n_prefix - 1; place >= 0; --place) {
      if (!(subset >> place & 1)) continue;
      n_patterns *= shape.levels[place] - 1;
      if (place < n_leading) continue;
      stride[place] = n_entries;
      n_entries *= size[place];
    }
    lanes.resize(n_entries * n_patterns * n_classes * kLanes);
    if (has_information) information.resize(n_entries * kLanes);
    ones.resize(static_cast<std::size_t>(n_entries * n_patterns * n_classes));
  }

  Index entry(const Places& local) const {
    Index sum = 0;
    for (int i = 0; i < n_inner; ++i) sum += local[inner[i]] * stride[inner[i]];
    return sum;
  }
};

}  // namespace interplay
