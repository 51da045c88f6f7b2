// bit planes → one row of 256 bits per sample: planes lie along samples, rows across variables
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "interplay/types.hpp"
#include "simd/lane_kernels.hpp"

namespace interplay {

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

// fill_lanes(word, lanes): set that word of every lane, 0 where a lane is empty
// rows: OUT layout.n_words words
template <class FillLanes>
void transpose_to_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                       FillLanes fill_lanes, Word* rows) {
  alignas(32) std::array<Word, kLanes> lanes;
  for (Index q = 0; q < planes.n_classes(); ++q) {
    const Index n_samples = planes.class_sizes[q], n_whole = n_samples / 64 * 64;
    const Index first_word = planes.class_word_start[q];
    Word* of_class = rows + layout.class_start[q];
    for (Index sample = 0; sample < n_whole; sample += 64) {
      fill_lanes(first_word + sample / 64, lanes.data());
      kernels.transpose(lanes.data(), of_class + sample * kWordsPerRow);
    }
    if (n_whole < n_samples) {
      alignas(32) std::array<Word, kLanes> last_rows;
      fill_lanes(first_word + n_whole / 64, lanes.data());
      kernels.transpose(lanes.data(), last_rows.data());
      std::copy_n(last_rows.data(), (n_samples - n_whole) * kWordsPerRow, of_class + n_whole * kWordsPerRow);
    }
    std::fill_n(of_class + n_samples * kWordsPerRow, kWordsPerRow, 0);
  }
}

// The plane of each lane; null where a lane is empty.
using LanePlanes = std::array<const Word*, kLanes>;

// lanes: a lane is 1 where its planes of all parts are; a lane with fewer parts has null for the rest
// rows: OUT layout.n_words words
void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                      std::span<const LanePlanes> lanes, Word* rows);

}  // namespace interplay
