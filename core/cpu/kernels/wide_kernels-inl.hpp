// Bounds for any number of levels and classes where counts are floats, which hold larger whole numbers than 16 bits.
// Included by lane_kernels-inl.hpp. The formulas are those of ClassesScore.
//
// Bottleneck: none. So many samples are counted for each tuple that the bound hardly matters.
//
// Rounding: of D, the deviation of a class from its part T, at most 2⁻²²·T. That is 2⁻²²·|D| / ln 2 of the cell's
// information I, where |D| ≤ (s·D²/T + T/s) / 2 for any s. With s = 2¹¹ this is at most 2⁻¹¹·I, which the inflation has
// room for beside the error of the reciprocal, and 1e-10·T, which the slack covers.
#pragma once

#include "kernels/lane_kernels.hpp"
#include "kernels/lane_scores-inl.hpp"
#include "kernels/lowest_bit-inl.hpp"

namespace {

inline constexpr float kWideInflation = 1.0f + 0x1p-9f;

template <class Simd, bool Add>
void put_counts(const interplay::LaneCount* counts, const interplay::LaneRuns& runs, float* sums) {
  for (int run = 0; run < runs.n_runs; ++run, counts += runs.n_lanes, sums += runs.stride) {
    for (int lane = 0; lane < runs.n_lanes; ++lane) {
      sums[lane] = (Add ? sums[lane] : 0.0f) + static_cast<float>(counts[lane]);
    }
  }
}

// Counts of patterns → counts of cells, for one level of a register of lanes and one class.
template <class Simd>
INTERPLAY_INLINE void wide_patterns_to_cells(const interplay::LevelShape& shape, float* cells) {
  constexpr int width = Simd::kFloats;
  for (int member = 0, stride = 1; member < shape.n_prefix; ++member) {
    const int n_levels = shape.levels[member];
    const int outer = stride * n_levels;
    for (int first = 0; first < shape.n_patterns; first += outer) {
      for (int inner = 0; inner < stride; ++inner) {
        float* open = cells + (first + inner) * width;
        auto rest = Simd::load_floats(open);
        for (int level = 1; level < n_levels; ++level) {
          rest = Simd::subtract(rest, Simd::load_floats(open + level * stride * width));
        }
        Simd::store_floats(open, rest);
      }
    }
    stride = outer;
  }
}

// Sum of the bounds of all cells, for a register of lanes from `lane` on. Classes: their number, or 0 if it is only
// known at run time. Upper: of a tuple, else the lower bound of a sub-tuple.
template <class Simd, int Classes, bool Upper>
INTERPLAY_INLINE typename Simd::Floats score_wide_lanes_from(const interplay::LevelModel& model,
                                                             const interplay::WideCounts& counts, float multiplicity,
                                                             int lane) {
  using Floats = typename Simd::Floats;
  constexpr int width = Simd::kFloats;
  const interplay::LevelShape& shape = counts.shape;
  const int n_classes = Classes ? Classes : model.n_classes, n_upper = shape.lane_levels - 1;
  const int n_patterns = shape.n_patterns;
  for (int q = 0; q < n_classes; ++q) {
    for (int level = 0; level < n_upper; ++level) {
      float* cells = counts.scratch + (q * n_upper + level) * n_patterns * width;
      for (int pattern = 0; pattern < n_patterns; ++pattern) {
        const float* of_pattern = counts.with_lane[q * n_patterns + pattern] + level * shape.lane_stride + lane;
        Simd::store_floats(cells + pattern * width, Simd::load_floats(of_pattern));
      }
      wide_patterns_to_cells<Simd>(shape, cells);
    }
  }
  const Floats pseudo = Simd::set_float(multiplicity * model.pseudo), two = Simd::set_float(2.0f);
  constexpr int most_classes = Classes ? Classes : interplay::kMaxLevelClasses;
  Floats count[most_classes], rest[most_classes], sum = Simd::set_float(0.0f);
  const auto add_cell = [&](const Floats* of_classes) {
    Floats total = of_classes[0];
    for (int q = 1; q < n_classes; ++q) total = Simd::add(total, of_classes[q]);
    const Floats n = Simd::add(total, pseudo);
    for (int q = 0; q < n_classes; ++q) {
      const Floats d = Simd::negative_multiply_add(Simd::set_float(model.share[q]), total, of_classes[q]);
      const Floats w = Simd::multiply(Simd::set_float(model.share_3[q]), n);
      const Floats near = Simd::add(w, d), d_squared = Simd::multiply(d, d);
      if constexpr (Upper) {
        const Floats far = Simd::multiply(w, Simd::multiply_add(two, d, w));
        sum = Simd::multiply_add(d_squared, Simd::multiply(near, Simd::reciprocal(far)), sum);
      } else {
        sum = Simd::multiply_add(d_squared, Simd::reciprocal(near), sum);
      }
    }
  };
  for (int cell = 0; cell < n_patterns; ++cell) {
    for (int q = 0; q < n_classes; ++q) {
      rest[q] = Simd::set_float(static_cast<float>(counts.prefix_cells[q * n_patterns + cell]));
    }
    for (int level = 0; level < n_upper; ++level) {
      for (int q = 0; q < n_classes; ++q) {
        count[q] = Simd::load_floats(counts.scratch + ((q * n_upper + level) * n_patterns + cell) * width);
        rest[q] = Simd::subtract(rest[q], count[q]);
      }
      add_cell(count);
    }
    add_cell(rest);  // level 0
  }
  return sum;
}

template <class Simd, int Classes>
int score_wide_lanes(const interplay::LevelModel& model, const interplay::WideScoreJob& job) {
  using Floats = typename Simd::Floats;
  constexpr int width = Simd::kFloats;
  const Floats factor = Simd::set_float(kRationalFactor * kWideInflation), slack = Simd::set_float(model.wide_slack);
  int n_survivors = 0;
  for (int lane = job.first_lane / width * width; lane < job.last_lane; lane += width) {
    const Floats sum = score_wide_lanes_from<Simd, Classes, true>(model, job.counts, 1.0f, lane);
    const Floats to_beat = least_to_beat<Simd>(1, job.counts.shape.n_prefix, lane, job);
    n_survivors = list_survivors<Simd>(Simd::multiply_add(sum, factor, slack), to_beat, lane, job, n_survivors);
  }
  return n_survivors;
}

template <class Simd>
void information_wide_lanes(const interplay::LevelModel& model, const interplay::WideCounts& counts, float multiplicity,
                            int first_lane, int last_lane, float* lower) {
  using Floats = typename Simd::Floats;
  constexpr int width = Simd::kFloats;
  const Floats factor = Simd::set_float(kRationalFactor * (2.0f - kWideInflation));
  const Floats slack = Simd::set_float(-model.wide_slack);
  for (int lane = first_lane / width * width; lane < last_lane; lane += width) {
    const Floats sum = score_wide_lanes_from<Simd, 0, false>(model, counts, multiplicity, lane);
    Simd::store_floats(lower + lane, Simd::multiply_add(sum, factor, slack));
  }
}

template <class Simd>
constexpr interplay::WideKernels make_wide_kernels() {
  interplay::WideKernels kernels{};
  kernels.put = put_counts<Simd, false>;
  kernels.add = put_counts<Simd, true>;
  kernels.score = score_wide_lanes<Simd, 0>;
  kernels.score_two_classes = score_wide_lanes<Simd, 2>;
  kernels.information = information_wide_lanes<Simd>;
  return kernels;
}

}  // namespace
