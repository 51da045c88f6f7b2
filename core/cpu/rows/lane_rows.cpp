#include "rows/lane_rows.hpp"

#include <utility>

namespace interplay {

LaneRows::LaneRows(const SearchProblem& problem, const LaneKernels& kernels, Index max_levels, SampleRowLayout layout)
    : layout_(std::move(layout)), last_members_(static_cast<std::size_t>(problem.blocks.n_lane_blocks())) {
  const VariableBlocks& blocks = problem.blocks;
  const auto n_levels_of = [&](Index lane_block) { return problem.levels_at(blocks.lane_start[lane_block]); };
  Index n_rows = 0;
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    if (n_levels_of(b) > max_levels) continue;
    const Index block_end = blocks.lane_start[b + 1], stride = lane_stride(n_levels_of(b));
    // The first row is the one that is not full: prefixes skip variables that come before them.
    for (Index begin = blocks.lane_start[b]; begin < block_end; ++n_rows) {
      const Index end = begin + (block_end - begin - 1) % stride + 1;
      last_members_[b].push_back({begin, end, nullptr});
      begin = end;
    }
  }
  if (problem.planes.of_numbers) return;  // weighted popcounts read planes
  rows_.resize(n_rows * layout_.n_words);
  Word* rows = rows_.data();
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    const Index n_levels = n_levels_of(b), stride = lane_stride(n_levels);
    for (LastMembers& last : last_members_[b]) {
      std::array<LanePlanes, 1> lanes{};
      for (Index level = 1; level < n_levels; ++level) {
        for (Index place = last.begin; place < last.end; ++place) {
          lanes[0][(level - 1) * stride + place - last.begin] = problem.planes.plane(blocks.order[place], level);
        }
      }
      fill_sample_rows(problem.planes, layout_, kernels, lanes, rows);
      last.rows = rows;
      rows += layout_.n_words;
    }
  }
}

}  // namespace interplay
