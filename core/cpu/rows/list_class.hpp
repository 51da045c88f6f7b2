#pragma once

#include "kernels/lane_kernels.hpp"

namespace interplay {

// List the samples of class q in which a & b is 1, padded with the row of zeros; returns their number.
inline std::int32_t list_class(const LaneKernels& kernels, const BitPlanes& planes, Index q, const Word* a,
                               const Word* b, LaneCount* list) {
  const Index first = planes.class_word_start[q], n_samples = planes.class_sizes[q];
  const Index n_words = (n_samples + 63) / 64;
  const Index n = kernels.list_samples(a + first, b + first, n_words, static_cast<LaneCount>(n_samples), list);
  return static_cast<std::int32_t>(n);
}

}  // namespace interplay
