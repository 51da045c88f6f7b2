#include "rows/level_data.hpp"

#include <algorithm>
#include <cmath>

#include "bounds/lane_model.hpp"

namespace interplay {

LevelData::LevelData(const SearchProblem& problem, const LaneKernels& kernels)
    : problem_(problem), layout_(problem.planes) {
  const VariableBlocks& blocks = problem.blocks;
  Index n_chunks = 0;
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    const Index begin = blocks.lane_start[b], size = blocks.lane_start[b + 1] - begin;
    std::vector<LevelChunk>& chunks = chunks_.emplace_back();
    if (levels_at(begin) > kMaxLevels) continue;
    const Index stride = lane_stride(levels_at(begin));
    // The first takes what does not fill one: prefixes skip chunks that come before them.
    for (Index from = begin; from < begin + size;) {
      const Index end = from + (begin + size - from - 1) % stride + 1;
      chunks.push_back({from, end, n_chunks++ * layout_.n_words});
      from = end;
    }
  }
  rows_.resize(n_chunks * layout_.n_words);
  for (const std::vector<LevelChunk>& chunks : chunks_) {
    for (const LevelChunk& chunk : chunks) {
      const Index n_levels = levels_at(chunk.begin), stride = lane_stride(n_levels);
      std::array<LanePlanes, 1> lanes{};
      for (Index level = 1; level < n_levels; ++level) {
        for (Index place = chunk.begin; place < chunk.end; ++place) {
          lanes[0][(level - 1) * stride + place - chunk.begin] = problem_.planes.plane(blocks.order[place], level);
        }
      }
      fill_sample_rows(problem_.planes, layout_, kernels, lanes, rows_.data() + chunk.rows);
    }
  }
  make_model();
}

void LevelData::make_model() {
  const std::span<const Index> sizes = problem_.planes.class_sizes;
  double n = 0;
  for (const Index size : sizes) n += static_cast<double>(size);
  const double beta = problem_.pseudocount / static_cast<double>(*std::min_element(sizes.begin(), sizes.end()));
  model_.n_classes = static_cast<int>(sizes.size());
  model_.pseudo = static_cast<float>(beta * n);
  // Sums are rounded in proportion to all that is counted, pseudocounts included.
  const double most_cells = static_cast<double>(kMaxCells / model_.n_classes);
  model_.slack = static_cast<float>(0.01 + 1e-5 * n * (1 + most_cells * beta));
  for (std::size_t q = 0; q < sizes.size(); ++q) {
    const double n_q = static_cast<double>(sizes[q]), share = n_q / n;
    model_.share[q] = static_cast<float>(share);
    model_.share_3[q] = static_cast<float>(3 * share);
    offset_ += n_q * std::log2(share);
    offset_of_cell_ += beta * n_q * std::log2(share);
  }
  if (sizes.size() == 2) model_.two_classes = make_lane_model(sizes, problem_.pseudocount, most_cells);
}

}  // namespace interplay
