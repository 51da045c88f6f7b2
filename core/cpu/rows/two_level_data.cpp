#include "rows/two_level_data.hpp"

#include <algorithm>
#include <cmath>

#include "bounds/lane_model.hpp"

namespace interplay {

TwoLevelData::TwoLevelData(const SearchProblem& problem, const LaneKernels& kernels)
    : problem_(problem), layout_(problem.planes) {
  const VariableBlocks& blocks = problem.blocks;
  const BitPlanes& planes = problem.planes;
  chunk_start_.push_back(0);
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    const bool two_levels = planes.n_levels[blocks.order[blocks.lane_start[b]]] == 2;
    const Index size = blocks.lane_start[b + 1] - blocks.lane_start[b];
    chunk_start_.push_back(chunk_start_.back() + (two_levels ? (size + kLanes - 1) / kLanes : 0));
  }
  rows_.resize(chunk_start_.back() * layout_.n_words);
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    for (Index chunk = chunk_start_[b]; chunk < chunk_start_[b + 1]; ++chunk) {
      const Index begin = blocks.lane_start[b] + (chunk - chunk_start_[b]) * kLanes;
      const Index n_lanes = std::min(kLanes, blocks.lane_start[b + 1] - begin);
      std::array<LanePlanes, 1> lanes{};
      for (Index lane = 0; lane < n_lanes; ++lane) lanes[0][lane] = planes.plane(blocks.order[begin + lane], 1);
      fill_sample_rows(planes, layout_, kernels, lanes, rows_.data() + chunk * layout_.n_words);
    }
  }
  make_model();
}

void TwoLevelData::make_model() {
  const double n_cells = std::exp2(static_cast<double>(problem_.tiles.dimensions));
  const std::span<const Index> sizes = problem_.planes.class_sizes;
  model_ = make_lane_model(sizes, problem_.pseudocount, n_cells);
  const double beta = problem_.pseudocount / static_cast<double>(std::min(sizes[0], sizes[1]));
  const double n = static_cast<double>(sizes[0] + sizes[1]);
  offset_ = 0;
  for (const Index size : sizes) {
    const double n_q = static_cast<double>(size);
    offset_ += n_q * (1 + n_cells * beta) * std::log2(n_q / n);
  }
}

}  // namespace interplay
