#include "rows/sample_rows.hpp"

namespace interplay {

void fill_sample_rows(const BitPlanes& planes, const SampleRowLayout& layout, const LaneKernels& kernels,
                      std::span<const LanePlanes> lanes, Word* rows) {
  // No plane is missing, so that the loops below need not ask.
  const std::vector<Word> empty(static_cast<std::size_t>(planes.n_words));
  std::array<LanePlanes, kMaxParts> parts;
  for (Index lane = 0; lane < kLanes; ++lane) {
    const Word* first = lanes[0][lane] ? lanes[0][lane] : empty.data();
    for (std::size_t part = 0; part < kMaxParts; ++part) {
      const Word* plane = part < lanes.size() ? lanes[part][lane] : nullptr;
      parts[part][lane] = plane ? plane : first;
    }
  }
  const auto& [first, second, third] = parts;
  const auto fill_lanes = [&](Index word, Word* words) {
    if (lanes.size() == 1) {
      for (Index i = 0; i < kLanes; ++i) words[i] = first[i][word];
    } else {
      for (Index i = 0; i < kLanes; ++i) words[i] = first[i][word] & second[i][word] & third[i][word];
    }
  };
  transpose_to_rows(layout, kernels, fill_lanes, rows);
}

}  // namespace interplay
