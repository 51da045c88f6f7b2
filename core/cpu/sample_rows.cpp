#include "interplay/sample_rows.hpp"

#include <algorithm>

namespace interplay {

void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                      const LanePlanes& lanes, const LanePlanes* and_lanes, Word* rows) {
  // Lanes in the order of their bits, the words of a row side by side: what becomes a sample's row then is a row of
  // four transposed matrices.
  LanePlanes first{}, second{};
  for (int lane = 0; lane < kLanes; ++lane) {
    const int bit = bit_of_lane(lane);
    const Index place = bit % 64 * kWordsPerRow + bit / 64;
    first[place] = lanes[lane];
    second[place] = and_lanes ? (*and_lanes)[lane] : lanes[lane];
  }
  alignas(32) Word block[64 * kWordsPerRow];
  for (Index q = 0; q < planes.n_classes(); ++q) {
    const Index n_samples = planes.class_sizes[q];
    Word* of_class = rows + layout.class_start[q];
    for (Index sample = 0; sample < n_samples; sample += 64) {
      const Index word = planes.class_word_start[q] + sample / 64;
      for (Index i = 0; i < kLanes; ++i) block[i] = first[i] ? first[i][word] & second[i][word] : 0;
      kernels.transpose(block);
      std::copy_n(block, std::min<Index>(n_samples - sample, 64) * kWordsPerRow, of_class + sample * kWordsPerRow);
    }
    std::fill_n(of_class + n_samples * kWordsPerRow, kWordsPerRow, 0);
  }
}

}  // namespace interplay
