// bit planes of the variables that can be last members of a tuple → a bit row per sample
#pragma once

#include <array>
#include <span>
#include <vector>

#include "interplay/tile_searcher.hpp"
#include "memory/aligned_buffer.hpp"
#include "rows/sample_rows.hpp"

namespace interplay {

// Row numbers of the last members that each lane stands for: one, or the parts of a pair or a triple.
using LaneMembers = std::array<std::array<Index, kMaxParts>, kMaxScoredLanes>;

// Variables that share the 256 bits of a row: each has a bit for each of its levels from 1 on.
struct LastMembers {
  Index begin, end;  // places in the order
  const Word* rows;
};

// Made once per search and shared by its threads.
class LaneRows {
 public:
  // Of lane blocks of variables with at most `max_levels` levels; the layout is of the problem's planes.
  LaneRows(const SearchProblem& problem, const LaneKernels& kernels, Index max_levels, SampleRowLayout layout);

  // Variables that fit a row, and so the distance between the bits of one level and those of the next.
  static Index lane_stride(Index n_levels) { return kLanes / (n_levels - 1) / 16 * 16; }

  // The variables of a lane block, as many at a time as fit; none if they have too many levels.
  std::span<const LastMembers> last_members(Index lane_block) const { return last_members_[lane_block]; }
  const SampleRowLayout& layout() const { return layout_; }

 private:
  SampleRowLayout layout_;
  std::vector<std::vector<LastMembers>> last_members_;
  AlignedBuffer<Word> rows_;
};

}  // namespace interplay
