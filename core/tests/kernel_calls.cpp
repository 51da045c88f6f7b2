// Calls one lane kernel many times: kernel_calls LEVEL KERNEL TIMES. The cost of a call is the difference between two
// runs with different TIMES (benchmarks/instruction_counts.py).
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "information/lane_model.hpp"
#include "kernels/lane_kernels.hpp"
#include "memory/aligned_buffer.hpp"

using namespace interplay;

int main(int n_arguments, char** arguments) {
  if (n_arguments != 4) return 2;
  const LaneKernels& kernels = lane_kernels(simd_level_from_name(arguments[1]));
  const std::string name = arguments[2];
  const long times = std::atol(arguments[3]);

  constexpr Index n_samples = 1024, n_listed = 512, n_words = n_samples / 64;
  std::mt19937_64 rng(1);
  AlignedBuffer<Word> rows, lanes, bits;
  AlignedBuffer<LaneCount> list, counts;
  AlignedBuffer<ClassCounts> pairs;
  rows.resize((n_samples + 1) * kWordsPerRow);
  lanes.resize(kLanes);
  bits.resize(n_words);
  list.resize(n_samples + kListMultiple + 64);
  counts.resize(2 * kLanes);
  pairs.resize(8 * kLanes);
  for (Index i = 0; i < n_samples * kWordsPerRow; ++i) rows.data()[i] = rng();
  for (Index i = 0; i < n_words; ++i) bits.data()[i] = rng();
  for (Index i = 0; i < kLanes; ++i) lanes.data()[i] = rng();
  for (Index i = 0; i < n_listed; ++i) list.data()[i] = static_cast<LaneCount>(2 * i);

  // All subsets of two members and a lane: of 512 samples in each class half have each, a quarter both, ….
  const std::vector<Index> sizes{512, 512};
  const LaneModel model = make_lane_model(sizes, 0.25, 8);
  LaneScoreJob job{};
  for (int subset = 0; subset < 4; ++subset) {
    const int n = 256 >> (subset / 2 + subset % 2);
    ClassCounts* of_subset = pairs.data() + subset * kLanes;
    for (Index lane = 0; lane < kLanes; ++lane) {
      of_subset[lane] = class_counts(n + static_cast<int>(rng() % 9) - 4, n + static_cast<int>(rng() % 9) - 4);
    }
    job.counts.with_lane[0][subset] = of_subset;
    job.counts.prefix_cells[subset] = class_counts(128, 128);
  }
  const std::vector<float> none(kLanes, 0.0f), unbeaten(kLanes, std::numeric_limits<float>::max());
  for (int member = 0; member < 2; ++member) {
    job.without_member[member] = none.data();
    job.best_of_member[member] = std::numeric_limits<float>::max();
  }
  job.without_part[0] = none.data();
  job.best_of_part[0] = unbeaten.data();
  job.last_lane = static_cast<int>(kLanes);
  std::vector<Survivor> survivors(kLanes);
  job.survivors = survivors.data();
  std::vector<float> lower(kLanes);

  long sum = 0;
  for (long i = 0; i < times; ++i) {
    if (name == "count_lanes")
      kernels.count_lanes(rows.data(), list.data(), n_listed, counts.data());
    else if (name == "list_samples")
      sum += kernels.list_samples(bits.data(), bits.data(), n_words, 0, list.data());
    else if (name == "transpose")
      kernels.transpose(lanes.data(), rows.data());
    else if (name == "join_classes")
      kernels.join_classes(counts.data(), counts.data() + kLanes, pairs.data());
    else if (name == "score_even")
      sum += kernels.score_even[1][2](model, job);
    else if (name == "score_rational")
      sum += kernels.score_rational[1][2](model, job);
    else if (name == "information_even")
      kernels.information_even[1][1](model, job.counts, 0, kLanes, lower.data());
    else
      return 2;
  }
  std::printf("%ld\n", sum + counts.data()[0]);
  return 0;
}
