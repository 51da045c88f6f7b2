// The samples in which some variables are 1, listed, and the lanes counted in them.
#pragma once

#include <array>

#include "rows/list_class.hpp"
#include "rows/two_level_data.hpp"

namespace interplay {

// The samples of each class, and how many there are. Lists are padded.
struct ListedSamples {
  std::array<const LaneCount*, 2> of_class{};
  std::array<Index, 2> n_padded{};
  ClassCounts ones = 0;
};

// Makes lists, one after the other, and keeps them until it is cleared.
class SampleLists {
 public:
  SampleLists(const BitPlanes& planes, const TwoLevelData& data, const LaneKernels& kernels)
      : planes_(planes), data_(data), kernels_(kernels), longest_(planes.n_words * 64 + 2 * kListMultiple) {}

  // Make room for lists of `n_samples` samples in all, and for one more list of any length.
  void make_room(Index n_samples) {
    capacity_ = n_samples + longest_;
    entries_.resize(capacity_);
    clear();
  }
  void clear() { n_entries_ = 0; }
  bool has_room() const { return n_entries_ + longest_ <= capacity_; }

  // List the samples of both classes in which a & b is 1.
  ListedSamples make(const Word* a, const Word* b) {
    ListedSamples listed;
    std::array<std::int32_t, 2> ones{};
    for (int q = 0; q < 2; ++q) {
      LaneCount* list = entries_.data() + n_entries_;
      ones[q] = list_class(kernels_, planes_, q, a, b, list);
      listed.of_class[q] = list;
      listed.n_padded[q] = padded(ones[q]);
      n_entries_ += listed.n_padded[q];
    }
    listed.ones = class_counts(ones[0], ones[1]);
    return listed;
  }

  // Listed samples in which each lane is 1: kLanes counts for each of several lists. Class after class, so that the
  // rows of one class stay in the fastest cache.
  void count(std::span<const ListedSamples> listed, const Word* rows, ClassCounts* counts) {
    of_class_0_.resize(static_cast<Index>(listed.size()) * kLanes);
    LaneCount* of_class_0 = of_class_0_.data();
    for (const ListedSamples& samples : listed) {
      kernels_.count_lanes(rows + data_.layout().class_start[0], samples.of_class[0], samples.n_padded[0], of_class_0);
      of_class_0 += kLanes;
    }
    of_class_0 = of_class_0_.data();
    alignas(64) std::array<LaneCount, kLanes> of_class_1;
    for (const ListedSamples& samples : listed) {
      kernels_.count_lanes(rows + data_.layout().class_start[1], samples.of_class[1], samples.n_padded[1],
                           of_class_1.data());
      kernels_.join_classes(of_class_0, of_class_1.data(), counts);
      of_class_0 += kLanes;
      counts += kLanes;
    }
  }
  void count(const ListedSamples& listed, const Word* rows, ClassCounts* counts) { count({&listed, 1}, rows, counts); }

 private:
  const BitPlanes& planes_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  const Index longest_;  // entries that a list of both classes may take
  Index capacity_ = 0, n_entries_ = 0;
  AlignedBuffer<LaneCount> entries_;
  AlignedBuffer<LaneCount> of_class_0_;  // counts
};

}  // namespace interplay
