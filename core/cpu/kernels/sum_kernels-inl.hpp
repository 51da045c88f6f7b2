// Counts and sums of scores of a number outcome → bounds. Included by lane_kernels-inl.hpp.
//
// SS = Σ S²/n over the cells is the score itself; only its rounding has to be made up for. A reciprocal with one step
// of Newton's method is good to 2⁻²¹, the products and sums to a few 2⁻²⁴. One logarithm a tuple makes bits of it, so
// that gains are differences, as those of classes are.
#pragma once

#include "kernels/lane_kernels.hpp"
#include "kernels/lane_scores-inl.hpp"
#include "kernels/lowest_bit-inl.hpp"

namespace {

// Σ S²/n over cells. An empty cell has S = 0: a number too small to change any count stands for its count.
template <class Simd>
struct SquareSum {
  using Floats = typename Simd::Floats;
  const Floats least = Simd::set_float(0x1p-30f), two = Simd::set_float(2.0f);
  Floats sums[2] = {Simd::set_float(0.0f), Simd::set_float(0.0f)};

  static INTERPLAY_INLINE Floats exact_reciprocal(Floats x, Floats two) {
    const Floats r = Simd::reciprocal(x);
    return Simd::multiply(r, Simd::negative_multiply_add(x, r, two));
  }
  INTERPLAY_INLINE void add(int which, typename Simd::Ints count, typename Simd::Ints sum) {
    const Floats n = Simd::add(Simd::as_floats(count), least), s = Simd::as_floats(sum);
    sums[which] = Simd::multiply_add(Simd::multiply(s, s), exact_reciprocal(n, two), sums[which]);
  }
  INTERPLAY_INLINE Floats all() const { return Simd::add(sums[0], sums[1]); }
};

// Two levels of each member of a prefix, and of the lane.
template <class Simd, int Prefix>
INTERPLAY_INLINE typename Simd::Floats squares_of_two_levels(const interplay::SumCounts& counts, int lane) {
  using Ints = typename Simd::Ints;
  constexpr int n = 1 << Prefix;
  Ints cells[2][n];
  for (int v = 0; v < 2; ++v) {
    for (int s = 0; s < n; ++s) cells[v][s] = Simd::load_ints(counts.with_lane[v * n + s] + lane);
    for (int member = 0; member < Prefix; ++member) {
      for (int s = 0; s < n; ++s) {
        if (!(s >> member & 1)) cells[v][s] = Simd::sub_ints(cells[v][s], cells[v][s | 1 << member]);
      }
    }
  }
  SquareSum<Simd> squares;
  for (int s = 0; s < n; ++s) {
    const Ints count = Simd::set_int(static_cast<std::int32_t>(counts.prefix_cells[s]));
    const Ints sum = Simd::set_int(static_cast<std::int32_t>(counts.prefix_cells[n + s]));
    squares.add(0, cells[0][s], cells[1][s]);
    squares.add(1, Simd::sub_ints(count, cells[0][s]), Simd::sub_ints(sum, cells[1][s]));
  }
  return squares.all();
}

// Any levels.
template <class Simd>
INTERPLAY_INLINE typename Simd::Floats squares_of_levels(const interplay::SumCounts& counts, int lane) {
  using Ints = typename Simd::Ints;
  constexpr int width = Simd::kFloats;
  const interplay::LevelShape& shape = counts.shape;
  const int n_upper = shape.lane_levels - 1, n_patterns = shape.n_patterns;
  for (int v = 0; v < 2; ++v) {
    for (int level = 0; level < n_upper; ++level) {
      std::int32_t* cells = counts.scratch + (v * n_upper + level) * n_patterns * width;
      for (int pattern = 0; pattern < n_patterns; ++pattern) {
        const std::int32_t* of_pattern = counts.with_lane[v * n_patterns + pattern] + level * shape.lane_stride + lane;
        Simd::store_ints(cells + pattern * width, Simd::load_ints(of_pattern));
      }
      for (int member = 0, stride = 1; member < shape.n_prefix; ++member) {
        const int n_levels = shape.levels[member], outer = stride * n_levels;
        for (int first = 0; first < n_patterns; first += outer) {
          for (int inner = 0; inner < stride; ++inner) {
            std::int32_t* open = cells + (first + inner) * width;
            Ints rest = Simd::load_ints(open);
            for (int at = 1; at < n_levels; ++at) {
              rest = Simd::sub_ints(rest, Simd::load_ints(open + at * stride * width));
            }
            Simd::store_ints(open, rest);
          }
        }
        stride = outer;
      }
    }
  }
  SquareSum<Simd> squares;
  for (int cell = 0; cell < n_patterns; ++cell) {
    Ints count = Simd::set_int(static_cast<std::int32_t>(counts.prefix_cells[cell]));
    Ints sum = Simd::set_int(static_cast<std::int32_t>(counts.prefix_cells[n_patterns + cell]));
    for (int level = 0; level < n_upper; ++level) {
      const std::int32_t* at = counts.scratch + (level * n_patterns + cell) * width;
      const Ints n = Simd::load_ints(at), s = Simd::load_ints(at + n_upper * n_patterns * width);
      squares.add(level & 1, n, s);
      count = Simd::sub_ints(count, n);
      sum = Simd::sub_ints(sum, s);
    }
    squares.add(1, count, sum);  // level 0
  }
  return squares.all();
}

// Prefix: members of two levels, as the lane; −1 for any shape.
template <class Simd, int Prefix>
INTERPLAY_INLINE typename Simd::Floats squares_from(const interplay::SumCounts& counts, int lane) {
  if constexpr (Prefix < 0) {
    return squares_of_levels<Simd>(counts, lane);
  } else {
    return squares_of_two_levels<Simd, Prefix>(counts, lane);
  }
}

// log2 of positive numbers, to 4·10⁻⁷ and the rounding of the exponent's sum: 2/ln 2 · artanh((m − 1)/(m + 1)), m from
// 1 to 2.
template <class Simd>
INTERPLAY_INLINE typename Simd::Floats log2_floats(typename Simd::Floats x) {
  using Floats = typename Simd::Floats;
  const Floats one = Simd::set_float(1.0f), two = Simd::set_float(2.0f);
  Floats m;
  const Floats exponent = Simd::split_exponent(x, m);
  const Floats s = Simd::multiply(Simd::subtract(m, one), SquareSum<Simd>::exact_reciprocal(Simd::add(m, one), two));
  const Floats z = Simd::multiply(s, s);
  constexpr float factor = 2.8853901f;
  Floats series = Simd::set_float(factor / 11);
  series = Simd::multiply_add(series, z, Simd::set_float(factor / 9));
  series = Simd::multiply_add(series, z, Simd::set_float(factor / 7));
  series = Simd::multiply_add(series, z, Simd::set_float(factor / 5));
  series = Simd::multiply_add(series, z, Simd::set_float(factor / 3));
  series = Simd::multiply_add(series, z, Simd::set_float(factor));
  return Simd::multiply_add(series, s, exponent);
}

// −(N/2) · log2(1 − SS / (Q + κ)), never below (Upper) or never above the true number.
template <class Simd, bool Upper>
INTERPLAY_INLINE typename Simd::Floats information_of(const interplay::SumModel& model, typename Simd::Floats squares) {
  using Floats = typename Simd::Floats;
  const Floats share = Simd::set_float(model.per_square * (Upper ? 1.0f + 0x1p-19f : 1.0f - 0x1p-19f));
  const Floats most = Simd::set_float(Upper ? 1.0f - 0x1p-23f : 1.0f + 0x1p-23f);
  const Floats rest =
      Simd::maximum(Simd::negative_multiply_add(squares, share, most), Simd::set_float(model.least_rest));
  return Simd::negative_multiply_add(log2_floats<Simd>(rest), Simd::set_float(model.half_samples),
                                     Simd::set_float(Upper ? model.slack : -model.slack));
}

template <class Simd, int Prefix>
int score_sum_lanes(const interplay::LevelModel& model, const interplay::SumScoreJob& job) {
  using Floats = typename Simd::Floats;
  constexpr int width = Simd::kFloats;
  int n_survivors = 0;
  for (int lane = job.first_lane / width * width; lane < job.last_lane; lane += width) {
    const Floats squares = squares_from<Simd, Prefix>(job.counts, lane);
    const Floats to_beat = least_to_beat<Simd>(1, job.counts.shape.n_prefix, lane, job);
    n_survivors =
        list_survivors<Simd>(information_of<Simd, true>(model.sums, squares), to_beat, lane, job, n_survivors);
  }
  return n_survivors;
}

template <class Simd, int Prefix>
void information_sum_lanes(const interplay::LevelModel& model, const interplay::SumCounts& counts, int first_lane,
                           int last_lane, float* lower) {
  constexpr int width = Simd::kFloats;
  for (int lane = first_lane / width * width; lane < last_lane; lane += width) {
    Simd::store_floats(lower + lane, information_of<Simd, false>(model.sums, squares_from<Simd, Prefix>(counts, lane)));
  }
}

template <class Simd>
constexpr interplay::SumKernels make_sum_kernels(interplay::SumKernel sum_planes) {
  interplay::SumKernels kernels{};
  kernels.sum_planes = sum_planes;
  kernels.score = score_sum_lanes<Simd, -1>;
  kernels.score_two_levels[0] = score_sum_lanes<Simd, 1>;
  kernels.score_two_levels[1] = score_sum_lanes<Simd, 2>;
  kernels.score_two_levels[2] = score_sum_lanes<Simd, 3>;
  kernels.score_two_levels[3] = score_sum_lanes<Simd, 4>;
  kernels.information_any = information_sum_lanes<Simd, -1>;
  kernels.information_two_levels[0] = information_sum_lanes<Simd, 0>;
  kernels.information_two_levels[1] = information_sum_lanes<Simd, 1>;
  kernels.information_two_levels[2] = information_sum_lanes<Simd, 2>;
  kernels.information_two_levels[3] = information_sum_lanes<Simd, 3>;
  return kernels;
}

}  // namespace
