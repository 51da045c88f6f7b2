#include "interplay/sample_rows.hpp"

#include <algorithm>

namespace interplay {

void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                      std::span<const LanePlanes> lanes, Word* rows) {
  // Lanes in the order of their bits, the words of a row side by side: what becomes a sample's row then is a row of
  // four transposed matrices.
  std::array<LanePlanes, kMaxParts> in_order{};
  for (int lane = 0; lane < kLanes; ++lane) {
    const int bit = bit_of_lane(lane);
    const Index place = bit % 64 * kWordsPerRow + bit / 64;
    for (std::size_t part = 0; part < lanes.size(); ++part) {
      in_order[part][place] = lanes[part][lane] ? lanes[part][lane] : lanes[0][lane];
    }
  }
  alignas(32) Word block[64 * kWordsPerRow];
  for (Index q = 0; q < planes.n_classes(); ++q) {
    const Index n_samples = planes.class_sizes[q];
    Word* of_class = rows + layout.class_start[q];
    for (Index sample = 0; sample < n_samples; sample += 64) {
      const Index word = planes.class_word_start[q] + sample / 64;
      for (Index i = 0; i < kLanes; ++i) block[i] = in_order[0][i] ? in_order[0][i][word] : 0;
      for (std::size_t part = 1; part < lanes.size(); ++part) {
        for (Index i = 0; i < kLanes; ++i) {
          if (in_order[part][i]) block[i] &= in_order[part][i][word];
        }
      }
      kernels.transpose(block);
      std::copy_n(block, std::min<Index>(n_samples - sample, 64) * kWordsPerRow, of_class + sample * kWordsPerRow);
    }
    std::fill_n(of_class + n_samples * kWordsPerRow, kWordsPerRow, 0);
  }
}

}  // namespace interplay
