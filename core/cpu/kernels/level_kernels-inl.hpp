// Bounds for any number of levels and classes, 16 lanes at a time; two classes have kernels of their own, in
// paired_kernels-inl.hpp. Included by lane_kernels-inl.hpp.
//
// Bottleneck: the arithmetic of the bound, one reciprocal per class and cell; then the loads and stores of counts in
// the scratch buffer, which holds more than registers do.
#pragma once

#include "kernels/lane_kernels.hpp"
#include "kernels/lane_scores-inl.hpp"
#include "kernels/lowest_bit-inl.hpp"

namespace {

// Counts of patterns → counts of cells, for one level of 16 lanes and one class: the count of a member at level 0 is
// the count with it open, less its counts at levels from 1 on.
template <class Simd>
INTERPLAY_INLINE void patterns_to_cells(const interplay::LevelShape& shape, interplay::LaneCount* cells) {
  for (int member = 0, stride = 1; member < shape.n_prefix; ++member) {
    const int n_levels = shape.levels[member];
    const int outer = stride * n_levels;
    for (int first = 0; first < shape.n_patterns; first += outer) {
      for (int inner = 0; inner < stride; ++inner) {
        interplay::LaneCount* open = cells + (first + inner) * 16;
        auto rest = Simd::load_counts(open);
        for (int level = 1; level < n_levels; ++level) {
          rest = Simd::sub_counts(rest, Simd::load_counts(open + level * stride * 16));
        }
        Simd::store_counts(open, rest);
      }
    }
    stride = outer;
  }
}

// Sum of a score over all cells, for lanes lane … lane + 15. Classes: their number, or 0 if it is only known at run
// time.
template <class Simd, int Classes, class Score>
INTERPLAY_INLINE void score_16_level_lanes(const interplay::LevelModel& model, const interplay::LevelCounts& counts,
                                           const Score& score, int lane, typename Simd::Floats (&sums)[2]) {
  using Counts = typename Simd::Counts;
  const interplay::LevelShape& shape = counts.shape;
  const int n_classes = Classes ? Classes : model.n_classes;
  const int n_upper = shape.lane_levels - 1, n_patterns = shape.n_patterns;
  for (int q = 0; q < n_classes; ++q) {
    const interplay::LaneCount* const* of_class = counts.with_lane + q * n_patterns;
    for (int level = 0; level < n_upper; ++level) {
      interplay::LaneCount* cells = counts.scratch + (q * n_upper + level) * n_patterns * 16;
      for (int pattern = 0; pattern < n_patterns; ++pattern) {
        Simd::store_counts(cells + pattern * 16,
                           Simd::load_counts(of_class[pattern] + level * shape.lane_stride + lane));
      }
      patterns_to_cells<Simd>(shape, cells);
    }
  }
  sums[0] = sums[1] = Simd::set_float(0.0f);
  constexpr int most_classes = Classes ? Classes : interplay::kMaxLevelClasses;
  Counts count[most_classes], rest[most_classes];
  for (int cell = 0; cell < n_patterns; ++cell) {
    for (int q = 0; q < n_classes; ++q) {
      rest[q] = Simd::set_counts(static_cast<interplay::LaneCount>(counts.prefix_cells[q * n_patterns + cell]));
    }
    for (int level = 0; level < n_upper; ++level) {
      for (int q = 0; q < n_classes; ++q) {
        count[q] = Simd::load_counts(counts.scratch + ((q * n_upper + level) * n_patterns + cell) * 16);
        rest[q] = Simd::sub_counts(rest[q], count[q]);
      }
      score.add_cell(sums, count);
    }
    score.add_cell(sums, rest);  // level 0
  }
  Simd::put_in_order(sums);
}

// The addition to the thresholds of lanes lane … lane + 15: not 0 where all counts of cells are positive. Reads the
// cells that score_16_level_lanes left in the scratch buffer.
template <class Simd>
void more_to_reach(const interplay::LevelModel& model, const interplay::LevelScoreJob& job, float (&more)[16]) {
  const interplay::LevelCounts& counts = job.counts;
  const int n_upper = counts.shape.lane_levels - 1, n_patterns = counts.shape.n_patterns;
  auto least = Simd::set_counts(1);
  for (int q = 0; q < model.n_classes; ++q) {
    for (int cell = 0; cell < n_patterns; ++cell) {
      auto rest = Simd::set_counts(static_cast<interplay::LaneCount>(counts.prefix_cells[q * n_patterns + cell]));
      for (int level = 0; level < n_upper; ++level) {
        const auto count = Simd::load_counts(counts.scratch + ((q * n_upper + level) * n_patterns + cell) * 16);
        rest = Simd::sub_counts(rest, count);
        least = Simd::min_counts(least, count);
      }
      least = Simd::min_counts(least, rest);
    }
  }
  alignas(32) interplay::LaneCount of_lanes[16];
  Simd::store_counts(of_lanes, least);
  for (int lane = 0; lane < 16; ++lane) more[lane] = of_lanes[lane] ? job.more_if_no_zero : 0.0f;
}

template <class Simd, int Classes, class Score>
int score_level_lanes(const interplay::LevelModel& model, const interplay::LevelScoreJob& job) {
  using Floats = typename Simd::Floats;
  const Score score(model, 1.0f);
  const Floats factor = Simd::set_float(Score::factor(model));
  const Floats slack = Simd::set_float(model.slack);
  int n_survivors = 0;
  for (int lane = job.first_lane & ~15; lane < job.last_lane; lane += 16) {
    Floats sums[2];
    score_16_level_lanes<Simd, Classes>(model, job.counts, score, lane, sums);
    float more[16];
    bool knows_more = false;
    for (int half = 0; half < 2; ++half) {
      const int first = lane + 8 * half;
      const Floats bound = Simd::multiply_add(sums[half], factor, slack);
      Floats to_beat = least_to_beat<Simd>(1, job.counts.shape.n_prefix, first, job);
      if (job.more_if_no_zero > 0 && Simd::at_least(bound, to_beat)) {
        if (!knows_more) more_to_reach<Simd>(model, job, more);
        knows_more = true;
        to_beat = Simd::add(to_beat, Simd::load_floats(more + 8 * half));
      }
      n_survivors = list_survivors<Simd>(bound, to_beat, first, job, n_survivors);
    }
  }
  return n_survivors;
}

template <class Simd, int Classes, class Score>
void information_level_lanes(const interplay::LevelModel& model, const interplay::LevelCounts& counts,
                             float multiplicity, int first_lane, int last_lane, float* lower) {
  using Floats = typename Simd::Floats;
  const Score score(model, multiplicity);
  const Floats factor = Simd::set_float(Score::factor(model));
  const Floats slack = Simd::set_float(-model.slack);
  for (int lane = first_lane & ~15; lane < last_lane; lane += 16) {
    Floats sums[2];
    score_16_level_lanes<Simd, Classes>(model, counts, score, lane, sums);
    Simd::store_floats(lower + lane, Simd::multiply_add(sums[0], factor, slack));
    Simd::store_floats(lower + lane + 8, Simd::multiply_add(sums[1], factor, slack));
  }
}

template <class Simd>
constexpr interplay::LevelKernels make_level_kernels() {
  interplay::LevelKernels kernels{};
  kernels.score = score_level_lanes<Simd, 0, ClassesScore<Simd, 0, true>>;
  kernels.score_three_classes = score_level_lanes<Simd, 3, ClassesScore<Simd, 3, true>>;
  kernels.information = information_level_lanes<Simd, 0, ClassesScore<Simd, 0, false>>;
  return kernels;
}

}  // namespace
