// bit planes of two-level variables → a bit row per sample, and the constants of the bound
#pragma once

#include <array>
#include <vector>

#include "bounds/rounded_down.hpp"
#include "interplay/tile_searcher.hpp"
#include "memory/aligned_buffer.hpp"
#include "rows/sample_rows.hpp"
#include "simd/lane_kernels.hpp"

namespace interplay {

// Row numbers of the variables of each lane.
using LaneMembers = std::array<std::array<Index, kMaxParts>, kMaxScoredLanes>;

// Made once per search and shared by its threads. Lane blocks are cut into chunks of up to 256 variables.
class TwoLevelData {
 public:
  // Whether the lane kernels can search any tile of this problem.
  static bool applies_to(const SearchProblem& problem);
  // Whether there is nothing else to search.
  static bool applies_to_all(const SearchProblem& problem);

  TwoLevelData(const SearchProblem& problem, const LaneKernels& kernels);

  // Whether a tile holds two-level variables only.
  bool applies_to(const std::int32_t* tile) const;

  Index first_chunk(Index lane_block) const { return chunk_start_[lane_block]; }
  Index last_chunk(Index lane_block) const { return chunk_start_[lane_block + 1]; }
  const SampleRowLayout& layout() const { return layout_; }
  // The bit rows of a chunk's variables.
  const Word* rows(Index chunk) const { return rows_.data() + chunk * layout_.n_words; }

  const LaneModel& model() const { return model_; }
  // Information (as LaneModel means it) of a sum of x·log2(x) in bits.
  double information_of(double bits) const { return bits - offset_; }
  // The same, rounded down by more than both can be off.
  float least_information_of(double bits) const { return difference_rounded_down(bits, offset_); }

 private:
  void make_model();

  const SearchProblem& problem_;
  SampleRowLayout layout_;
  std::vector<Index> chunk_start_;
  AlignedBuffer<Word> rows_;
  LaneModel model_;
  double offset_;
};

}  // namespace interplay
