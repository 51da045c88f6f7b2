// bit planes → one row of 256 bits per sample: planes lie along samples, rows across variables
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "interplay/types.hpp"
#include "kernels/lane_kernels.hpp"

namespace interplay {

// Samples of a class whose rows lie one after the other, with a row of zeros after the last to pad lists with.
struct RowSegment {
  Index first_word;  // of the planes
  Index n_samples;
  Index start;  // of its rows, in words
};

// Where the rows of each class lie: in one segment, or in several where lists and rows of all samples would be too
// long.
struct SampleRowLayout {
  // most_samples: of a segment; whole words
  explicit SampleRowLayout(const BitPlanes& planes, Index most_samples = std::numeric_limits<Index>::max()) {
    for (Index q = 0; q < planes.n_classes(); ++q) {
      class_start.push_back(n_words);
      std::vector<RowSegment>& of_class = segments.emplace_back();
      Index left = planes.class_sizes[q], first_word = planes.class_word_start[q];
      // Segments of about the same length, in whole words.
      const Index n_segments = left / most_samples + (left % most_samples > 0);
      const Index even = n_segments < 2 ? left : (left / n_segments + 64) / 64 * 64;
      do {
        const Index n_samples = std::min({left, most_samples, even});
        of_class.push_back({first_word, n_samples, n_words});
        n_words += (n_samples + 1) * kWordsPerRow;
        first_word += n_samples / 64;
        left -= n_samples;
      } while (left > 0);
    }
  }

  std::vector<Index> class_start;
  std::vector<std::vector<RowSegment>> segments;  // [class]
  Index n_words = 0;
};

// fill_lanes(word, lanes): set that word of every lane, 0 where a lane is empty
// rows: OUT layout.n_words words
template <class FillLanes>
void transpose_to_rows(const SampleRowLayout& layout, const LaneKernels& kernels, FillLanes fill_lanes, Word* rows) {
  alignas(32) std::array<Word, kLanes> lanes;
  for (const std::vector<RowSegment>& of_class : layout.segments) {
    for (const auto& [first_word, n_samples, start] : of_class) {
      const Index n_whole = n_samples / 64 * 64;
      Word* of_segment = rows + start;
      for (Index sample = 0; sample < n_whole; sample += 64) {
        fill_lanes(first_word + sample / 64, lanes.data());
        kernels.transpose(lanes.data(), of_segment + sample * kWordsPerRow);
      }
      if (n_whole < n_samples) {
        alignas(32) std::array<Word, kLanes> last_rows;
        fill_lanes(first_word + n_whole / 64, lanes.data());
        kernels.transpose(lanes.data(), last_rows.data());
        std::copy_n(last_rows.data(), (n_samples - n_whole) * kWordsPerRow, of_segment + n_whole * kWordsPerRow);
      }
      std::fill_n(of_segment + n_samples * kWordsPerRow, kWordsPerRow, 0);
    }
  }
}

// The plane of each lane; null where a lane is empty.
using LanePlanes = std::array<const Word*, kLanes>;

// lanes: a lane is 1 where its planes of all parts are; a lane with fewer parts has null for the rest
// rows: OUT layout.n_words words
void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                      std::span<const LanePlanes> lanes, Word* rows);

}  // namespace interplay
