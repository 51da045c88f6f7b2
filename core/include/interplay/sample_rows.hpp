// bit planes → one row of 256 bits per sample: planes lie along samples, rows across variables
#pragma once

#include <vector>

#include "interplay/lane_kernels.hpp"
#include "interplay/types.hpp"

namespace interplay {

// Transpose a 64 × 64 bit matrix: bit j of word i becomes bit i of word j.
inline void transpose_64(Word* rows) {
  Word mask = 0x00000000ffffffffull;
  for (int width = 32; width != 0; width >>= 1, mask ^= mask << width) {
    for (int i = 0; i < 64; i = ((i | width) + 1) & ~width) {
      const Word swapped = ((rows[i] >> width) ^ rows[i | width]) & mask;
      rows[i] ^= swapped << width;
      rows[i | width] ^= swapped;
    }
  }
}

// Where the rows of each class lie: after its last sample, a class has a row of zeros to pad lists with.
struct SampleRowLayout {
  explicit SampleRowLayout(const BitPlanes& planes) {
    for (const Index size : planes.class_sizes) {
      class_start.push_back(n_words);
      n_words += (size + 1) * kWordsPerRow;
    }
  }

  std::vector<Index> class_start;
  Index n_words = 0;
};

// word_of(lane, word): the plane of a lane, word by word; lanes from n_lanes on are empty.
// rows: OUT layout.n_words words
template <class WordOf>
void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, Index n_lanes, WordOf word_of,
                      Word* rows) {
  Index lane_at[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) lane_at[bit_of_lane(lane)] = lane;
  for (Index q = 0; q < planes.n_classes(); ++q) {
    const Index n_samples = planes.class_sizes[q];
    Word* of_class = rows + layout.class_start[q];
    for (Index group = 0; group < kWordsPerRow; ++group) {
      for (Index first = 0; first < n_samples; first += 64) {
        Word block[64];
        for (Index bit = 0; bit < 64; ++bit) {
          const Index lane = lane_at[group * 64 + bit];
          block[bit] = lane < n_lanes ? word_of(lane, planes.class_word_start[q] + first / 64) : 0;
        }
        transpose_64(block);
        const Index n_rows = n_samples - first < 64 ? n_samples - first : 64;
        for (Index i = 0; i < n_rows; ++i) of_class[(first + i) * kWordsPerRow + group] = block[i];
      }
      of_class[n_samples * kWordsPerRow + group] = 0;
    }
  }
}

}  // namespace interplay
