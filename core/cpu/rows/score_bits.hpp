// The scores of a number outcome as bits: S = lowest · n + Σ 2ᵇ · (samples whose score above the lowest has bit b).
// For searches and tables that count by AND and popcount.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "interplay/types.hpp"

namespace interplay {

class ScoreBits {
 public:
  // Of samples in the first order of the planes, which must be of numbers.
  explicit ScoreBits(const BitPlanes& planes) : n_words_(planes.n_words_once()) {
    const std::span<const std::int32_t> scores = planes.scores.first(static_cast<std::size_t>(planes.class_sizes[0]));
    lowest_ = *std::min_element(scores.begin(), scores.end());
    const std::int32_t highest = *std::max_element(scores.begin(), scores.end());
    n_bits_ = std::bit_width(static_cast<std::uint32_t>(highest - lowest_));
    masks_.resize(static_cast<std::size_t>(n_bits_ * n_words_));
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::uint32_t above = static_cast<std::uint32_t>(scores[i] - lowest_);
      for (Index b = 0; b < n_bits_; ++b) {
        masks_[b * n_words_ + i / 64] |= static_cast<Word>(above >> b & 1) << (i % 64);
      }
    }
  }

  // Masks that stand for one: the mask itself, and with each bit.
  Index n_masks() const { return 1 + n_bits_; }

  // masks: IN n * n_words; split: OUT n * n_masks() * n_words
  void split(const Word* masks, Index n, Word* split) const {
    for (const Word* mask = masks; mask < masks + n * n_words_; mask += n_words_) {
      split = std::copy_n(mask, n_words_, split);
      for (const Word* bits = masks_.data(); bits < masks_.data() + n_bits_ * n_words_; bits += n_words_) {
        for (Index w = 0; w < n_words_; ++w) *split++ = mask[w] & bits[w];
      }
    }
  }

  // counts: IN n * n_masks(); cells: OUT n pairs of a count and the bits of a sum
  void join(const Count* counts, Index n, Count* cells) const {
    for (Index i = 0; i < n; ++i, counts += n_masks(), cells += 2) {
      Count sum = counts[0] * static_cast<Count>(lowest_);
      for (Index b = 0; b < n_bits_; ++b) sum += counts[1 + b] << b;
      cells[0] = counts[0];
      cells[1] = sum;
    }
  }

 private:
  const Index n_words_;
  std::int32_t lowest_ = 0;
  Index n_bits_ = 0;
  std::vector<Word> masks_;
};

}  // namespace interplay
