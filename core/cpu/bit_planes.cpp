#include "interplay/bit_planes.hpp"

namespace interplay {

void pack_bit_planes(std::span<const std::uint8_t> codes, std::span<const Index> bit_of_sample,
                     std::span<const Index> plane_start, Index n_words, Index first_row, Index last_row,
                     std::span<Word> words) {
  const Index n_samples = static_cast<Index>(bit_of_sample.size());
  for (Index row = first_row; row < last_row; ++row) {
    const std::uint8_t* code = codes.data() + row * n_samples;
    Word* planes = words.data() + plane_start[row] * n_words;
    for (Index sample = 0; sample < n_samples; ++sample) {
      const Index level = code[sample];
      if (level == 0) continue;
      const Index bit = bit_of_sample[sample];
      planes[(level - 1) * n_words + (bit >> 6)] |= Word{1} << (bit & 63);
    }
  }
}

}  // namespace interplay
