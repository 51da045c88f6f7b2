#include "interplay/sample_rows.hpp"

#include <algorithm>

namespace interplay {

void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                      std::span<const LanePlanes> lanes, Word* rows) {
  // Lanes in the order of their bits, the words of a row side by side: what becomes a sample's row then is a row of
  // four transposed matrices. No plane is missing, so that the loops below need not ask.
  const std::vector<Word> empty(static_cast<std::size_t>(planes.n_words));
  std::array<LanePlanes, kMaxParts> in_order;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int bit = bit_of_lane(lane);
    const Index place = bit % 64 * kWordsPerRow + bit / 64;
    const Word* first = lanes[0][lane] ? lanes[0][lane] : empty.data();
    for (std::size_t part = 0; part < lanes.size(); ++part) {
      in_order[part][place] = lanes[part][lane] ? lanes[part][lane] : first;
    }
  }
  const auto& [first, second, third] = in_order;
  alignas(32) Word block[64 * kWordsPerRow];
  for (Index q = 0; q < planes.n_classes(); ++q) {
    const Index n_samples = planes.class_sizes[q];
    Word* of_class = rows + layout.class_start[q];
    for (Index sample = 0; sample < n_samples; sample += 64) {
      const Index word = planes.class_word_start[q] + sample / 64;
      if (lanes.size() == 1) {
        for (Index i = 0; i < kLanes; ++i) block[i] = first[i][word];
      } else if (lanes.size() == 2) {
        for (Index i = 0; i < kLanes; ++i) block[i] = first[i][word] & second[i][word];
      } else {
        for (Index i = 0; i < kLanes; ++i) block[i] = first[i][word] & second[i][word] & third[i][word];
      }
      kernels.transpose(block);
      std::copy_n(block, std::min<Index>(n_samples - sample, 64) * kWordsPerRow, of_class + sample * kWordsPerRow);
    }
    std::fill_n(of_class + n_samples * kWordsPerRow, kWordsPerRow, 0);
  }
}

}  // namespace interplay
