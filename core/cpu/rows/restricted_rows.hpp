// The bit rows of some samples of a class, copied close together: lists for the many variables that may come next are
// made from fewer bits, and the rows that they list are in cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/lane_kernels.hpp"

namespace interplay {

struct RestrictedRows {
  const Word* rows;     // one after the other, and a row of zeros; then those of the next register of lanes
  LaneCount n_samples;  // before the row of zeros
  int n_bytes;          // that hold the samples of any one word

  const Word* of_register(Index i) const { return rows + i * (Index{n_samples} + 1) * kWordsPerRow; }
};

// Words of the rows of n_masks masks that have no sample in common.
inline Index restricted_words(Index n_samples, Index n_masks) { return (n_samples + n_masks) * kWordsPerRow; }

// mask: n_words words of a class, whose rows are `rows`, and register_words further on those of the next register
// list: scratch for their samples
// target: IN OUT where the copy goes; moves behind it
inline RestrictedRows restrict_rows(const LaneKernels& kernels, const Word* mask, Index n_words, const Word* rows,
                                    Index n_registers, Index register_words, LaneCount* list, Word*& target) {
  int most = 0;
  for (Index w = 0; w < n_words; ++w) most = std::max(most, std::popcount(mask[w]));
  const Index n_samples = kernels.list_samples(mask, mask, n_words, 0, list);
  const RestrictedRows restricted{target, static_cast<LaneCount>(n_samples), (most + 7) / 8};
  for (Index i = 0; i < n_registers; ++i, rows += register_words) {
    for (Index s = 0; s < n_samples; ++s, target += kWordsPerRow) {
      std::memcpy(target, rows + Index{list[s]} * kWordsPerRow, kWordsPerRow * sizeof(Word));
    }
    std::fill_n(target, kWordsPerRow, 0);
    target += kWordsPerRow;
  }
  return restricted;
}

}  // namespace interplay
