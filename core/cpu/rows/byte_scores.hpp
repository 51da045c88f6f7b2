// The scores of a number outcome as weighted popcounts take them: a byte for each byte of a plane, or two.
#pragma once

#include <algorithm>

#include "kernels/tuple_counts.hpp"
#include "memory/aligned_buffer.hpp"

namespace interplay {

class ByteScores {
 public:
  explicit ByteScores(const BitPlanes& planes) {
    const auto is_small = [](std::int32_t score) { return score == static_cast<std::int8_t>(score); };
    n_limbs_ = std::ranges::all_of(planes.scores, is_small) ? 1 : 2;
    const Index n = static_cast<Index>(planes.scores.size());
    limbs_.resize(n_limbs_ * n);
    for (Index i = 0; i < n; ++i) {
      const std::int32_t score = planes.scores[i];
      const std::int8_t low = static_cast<std::int8_t>(score);
      limbs_.data()[i] = low;
      if (n_limbs_ > 1) limbs_.data()[n + i] = static_cast<std::int8_t>((score - low) / 256);
    }
    n_ = n;
    n_used_ = planes.n_words;
    while (n_used_ > 1 && planes.samples[n_used_ - 1] == 0) --n_used_;
  }

  void set(SumJob& job) const {
    job.limbs[0] = limbs_.data();
    job.limbs[1] = n_limbs_ > 1 ? limbs_.data() + n_ : nullptr;
    job.n_used = n_used_;
  }

 private:
  Index n_limbs_ = 1, n_ = 0, n_used_ = 0;
  AlignedBuffer<std::int8_t> limbs_;
};

}  // namespace interplay
