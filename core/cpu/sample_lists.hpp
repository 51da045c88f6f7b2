// The samples in which some variables are 1, listed, and the lanes counted in them.
#pragma once

#include <array>
#include <vector>

#include "interplay/two_level_data.hpp"

namespace interplay {

class SampleLists {
 public:
  SampleLists(const BitPlanes& planes, const TwoLevelData& data, const LaneKernels& kernels)
      : planes_(planes), data_(data), kernels_(kernels) {
    for (auto& list : lists_) list.resize(planes.n_words * 64 + kListMultiple);
  }

  // List the samples of both classes in which a & b is 1; returns their numbers.
  ClassCounts make(const Word* a, const Word* b) {
    std::array<std::int32_t, 2> ones{};
    for (int q = 0; q < 2; ++q) {
      const Index first = planes_.class_word_start[q];
      LaneCount* list = lists_[q].data();
      const Index n_words = (planes_.class_sizes[q] + 63) / 64;
      const Index n =
          kernels_.list_samples(a + first, b + first, n_words, static_cast<LaneCount>(planes_.class_sizes[q]), list);
      ones[q] = static_cast<std::int32_t>(n);
      n_listed_[q] = padded(n);
      listed_[q] = list;
    }
    return class_counts(ones[0], ones[1]);
  }

  // Keep the lists: class 0, then class 1, both padded.
  void append_to(std::vector<LaneCount>& kept) const {
    for (int q = 0; q < 2; ++q) kept.insert(kept.end(), listed_[q], listed_[q] + n_listed_[q]);
  }

  // Go back to lists that were kept, of so many samples.
  void take(const LaneCount* kept, ClassCounts ones) {
    for (int q = 0; q < 2; ++q) {
      n_listed_[q] = padded(count_of_class(ones, q));
      listed_[q] = kept;
      kept += n_listed_[q];
    }
  }

  // Listed samples in which each lane is 1: kLanes counts.
  void count(const Word* rows, ClassCounts* counts) const {
    const Word* of_class[2] = {rows + data_.layout().class_start[0], rows + data_.layout().class_start[1]};
    kernels_.count_both_classes(of_class, listed_.data(), n_listed_.data(), counts);
  }

 private:
  static Index padded(Index n) { return (n + kListMultiple - 1) / kListMultiple * kListMultiple; }

  const BitPlanes& planes_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  std::array<AlignedBuffer<LaneCount>, 2> lists_;
  std::array<Index, 2> n_listed_{};
  std::array<const LaneCount*, 2> listed_{};  // these, or kept ones
};

}  // namespace interplay
