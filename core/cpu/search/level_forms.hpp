// The forms of counts of lanes of any levels: the policies of LevelSearcher.
//
// A form has the job of its kernels, how many vectors of counts a pattern has (its classes, or one for both), how the
// counts of a segment of samples get there, and which kernels bound lanes.
#pragma once

#include <algorithm>

#include "kernels/lane_kernels.hpp"

namespace interplay {

// Two classes side by side in 32 bits.
struct PairedForm {
  using Job = PairedScoreJob;
  static Index n_vectors(Index) { return 1; }
  static constexpr bool has_polynomials = true;
  static constexpr bool has_bytes = true;

  static void add_ones(Index q, Index n, Count* ones) { *ones += static_cast<Count>(n) << (16 * q); }

  // of_class(q): counts of a segment, kLanes. is_first: the first segment, which overwrites the counts
  template <class OfClass>
  static void put(const LaneKernels& kernels, const OfClass& of_class, Index, const LaneRuns& runs, bool is_first,
                  ClassCounts* counts) {
    (is_first ? kernels.paired.put : kernels.paired.add)(of_class(0), of_class(1), runs, counts);
  }

  static const PairedKernels& bounds(const LaneKernels& kernels) { return kernels.paired; }
  static PairedScoreKernel score_of(const LaneKernels& kernels, const LevelModel& model, const LevelShape& shape,
                                    bool polynomial) {
    return kernels.paired.score_of(model, shape, polynomial);
  }

  // Whether the counts of whole prefixes, of two members, are to be in bytes: where cells are so small in the mean that
  // few of them have 16 samples.
  static bool takes_bytes(std::span<const Index> class_sizes, const LevelShape& shape) {
    const Index n_cells = Index{shape.n_patterns} * shape.lane_levels;
    return shape.n_prefix == 2 && class_sizes[0] + class_sizes[1] <= kMostInSmallCells * n_cells;
  }
  static PairedScoreKernel score_small_of(const LaneKernels& kernels, const LevelModel& model, bool polynomial) {
    return kernels.paired.score_small_of(model, polynomial);
  }
  static constexpr Index kMostInSmallCells = 6;
};

// 16 bits for each class.
struct SeparateForm {
  using Job = LevelScoreJob;
  static Index n_vectors(Index n_classes) { return n_classes; }
  static constexpr bool has_polynomials = false;
  static constexpr bool has_bytes = false;

  static void add_ones(Index q, Index n, Count* ones) { ones[q] += static_cast<Count>(n); }

  template <class OfClass>
  static void put(const LaneKernels&, const OfClass& of_class, Index n_classes, const LaneRuns& runs, bool is_first,
                  LaneCount* counts) {
    for (Index q = 0; q < n_classes; ++q) {
      const LaneCount* source = of_class(q);
      for (int run = 0; run < runs.n_runs; ++run, source += runs.n_lanes, counts += runs.stride) {
        if (is_first) {
          std::copy_n(source, runs.n_lanes, counts);
        } else {
          for (int lane = 0; lane < runs.n_lanes; ++lane) counts[lane] += source[lane];
        }
      }
    }
  }

  static const LevelKernels& bounds(const LaneKernels& kernels) { return kernels.levels; }
  static LevelScoreKernel score_of(const LaneKernels& kernels, const LevelModel& model, const LevelShape&, bool) {
    return kernels.levels.score_of(model.n_classes);
  }
};

// A float for each class.
struct WideForm {
  using Job = WideScoreJob;
  static Index n_vectors(Index n_classes) { return n_classes; }
  static constexpr bool has_polynomials = false;
  static constexpr bool has_bytes = false;

  static void add_ones(Index q, Index n, Count* ones) { ones[q] += static_cast<Count>(n); }

  template <class OfClass>
  static void put(const LaneKernels& kernels, const OfClass& of_class, Index n_classes, const LaneRuns& runs,
                  bool is_first, float* counts) {
    for (Index q = 0; q < n_classes; ++q, counts += runs.n_runs * runs.stride) {
      (is_first ? kernels.wide.put : kernels.wide.add)(of_class(q), runs, counts);
    }
  }

  static const WideKernels& bounds(const LaneKernels& kernels) { return kernels.wide; }
  static WideScoreKernel score_of(const LaneKernels& kernels, const LevelModel& model, const LevelShape&, bool) {
    return kernels.wide.score_of(model.n_classes);
  }
};

// A number outcome: a count and a sum of scores.
struct SumForm {
  using Job = SumScoreJob;
  static Index n_vectors(Index) { return 2; }
  static constexpr bool has_polynomials = false;
  static constexpr bool has_bytes = false;

  static const SumKernels& bounds(const LaneKernels& kernels) { return kernels.sums; }
  static SumScoreKernel score_of(const LaneKernels& kernels, const LevelModel&, const LevelShape& shape, bool) {
    return kernels.sums.score_of(shape);
  }
};

}  // namespace interplay
