// bit planes of variables with any number of levels → a bit row per sample, and the constants of the bound
#pragma once

#include <vector>

#include "bounds/rounded_down.hpp"
#include "interplay/tile_searcher.hpp"
#include "memory/aligned_buffer.hpp"
#include "rows/sample_rows.hpp"
#include "simd/lane_kernels.hpp"

namespace interplay {

// Up to 256 bits of a row: each level from 1 on of each of these variables.
struct LevelChunk {
  Index begin, end;  // places in the order
  Index rows;        // words before its rows
};

// Made once per search and shared by its threads.
class LevelData {
 public:
  // Whether the level kernels can search any tile of this problem.
  static bool applies_to(const SearchProblem& problem);

  LevelData(const SearchProblem& problem, const LaneKernels& kernels);

  // Whether a tile has few enough levels and cells.
  bool applies_to(const std::int32_t* tile) const;

  // Lanes of a chunk, and so the distance between the bits of one level and those of the next.
  static Index lane_stride(Index n_levels) { return kLanes / (n_levels - 1) / 16 * 16; }

  std::span<const LevelChunk> chunks(Index lane_block) const { return chunks_[lane_block]; }
  const Word* rows(const LevelChunk& chunk) const { return rows_.data() + chunk.rows; }
  const SampleRowLayout& layout() const { return layout_; }
  const LevelModel& model() const { return model_; }
  // Information (as LaneModel means it) of a sum of x·log2(x) in bits, over a table of n_cells cells.
  double information_of(double bits, Index n_cells) const { return bits - offset_of(n_cells); }
  // The same, rounded down by more than both can be off.
  float least_information_of(double bits, Index n_cells) const {
    return difference_rounded_down(bits, offset_of(n_cells));
  }

 private:
  Index levels_at(Index place) const { return problem_.planes.n_levels[problem_.blocks.order[place]]; }
  double offset_of(Index n_cells) const { return offset_ + static_cast<double>(n_cells) * offset_of_cell_; }
  void make_model();

  const SearchProblem& problem_;
  SampleRowLayout layout_;
  std::vector<std::vector<LevelChunk>> chunks_;
  AlignedBuffer<Word> rows_;
  LevelModel model_{};
  double offset_ = 0, offset_of_cell_ = 0;
};

}  // namespace interplay
