#include "rows/two_level_data.hpp"

#include <algorithm>
#include <cmath>

#include "bounds/lane_model.hpp"

namespace interplay {
bool TwoLevelData::applies_to(const SearchProblem& problem) {
  const BitPlanes& planes = problem.planes;
  const Index k = problem.tiles.dimensions;
  // Without pseudocounts an empty cell would make the bound divide by zero.
  if (planes.n_classes() != 2 || k < 2 || k > kMaxFastDimensions || problem.pseudocount < 1e-6) return false;
  if (std::max(planes.class_sizes[0], planes.class_sizes[1]) > kMaxFastClassSize) return false;
  return std::any_of(problem.blocks.order.begin(), problem.blocks.order.end(),
                     [&](Index row) { return planes.n_levels[row] == 2; });
}

bool TwoLevelData::applies_to_all(const SearchProblem& problem) {
  return applies_to(problem) && std::all_of(problem.blocks.order.begin(), problem.blocks.order.end(),
                                            [&](Index row) { return problem.planes.n_levels[row] == 2; });
}

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

bool TwoLevelData::applies_to(const std::int32_t* tile) const {
  for (Index m = 0; m < problem_.tiles.dimensions; ++m) {
    if (problem_.planes.n_levels[problem_.blocks.order[problem_.block_begin(tile, m)]] != 2) return false;
  }
  return true;
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
