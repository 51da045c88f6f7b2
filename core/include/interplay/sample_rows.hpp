// bit planes → one row of 256 bits per sample: planes lie along samples, rows across variables
#pragma once

#include <array>
#include <vector>

#include "interplay/lane_kernels.hpp"
#include "interplay/types.hpp"

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

// The plane of each lane; null where a lane is empty.
using LanePlanes = std::array<const Word*, kLanes>;

// lanes: a lane is 1 where its planes of all parts are; a lane with fewer parts has null for the rest
// rows: OUT layout.n_words words
void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                      std::span<const LanePlanes> lanes, Word* rows);

}  // namespace interplay
