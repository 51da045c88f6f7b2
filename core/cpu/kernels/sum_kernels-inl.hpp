// Counts and sums of scores of a number outcome: lists of samples → counts and sums of lanes; these → bounds.
// Included by lane_kernels-inl.hpp.
//
// Counting. The listed samples are sorted by a digit, in runs of the same digit. Their bit rows are added up run by
// run, from the highest digit down, in bit planes: after a run the planes hold D, the samples of this digit and above.
// Σ digit = Σ D · (digit of the run − digit of the run below), so D is added to a second number of bit planes after
// each run. Bottleneck: bit operations, of eight rows about 44 and of a run about 60.
//
// Bounds. SS = Σ S²/n over the cells is the score itself; only its rounding has to be made up for. A reciprocal with
// one step of Newton's method is good to 2⁻²¹, the products and sums to a few 2⁻²⁴.
#pragma once

#include "kernels/lane_kernels.hpp"
#include "kernels/lane_scores-inl.hpp"
#include "kernels/lowest_bit-inl.hpp"

namespace {

inline constexpr interplay::Index kRunMultiple = interplay::kRunMultiple;

// Cut a list of samples, those of a & b, into padded runs; see SumKernels.
template <class Simd>
interplay::RunSums list_runs(const interplay::Word* a, const interplay::Word* b, interplay::Index n_words,
                             const interplay::RunEdges& edges, const interplay::LaneCount* list,
                             interplay::LaneCount padding, interplay::LaneCount* runs, std::int32_t* run_end) {
  using interplay::Index;
  using interplay::Word;
  Index before = 0, start = 0, digits = 0;
  int edge = 1;
  std::int32_t at = 0;
  const auto end_run = [&](Index end) INTERPLAY_INLINE_LAMBDA {
    const Index n = end - start;
    for (Index i = 0; i < n; i += 8) Simd::copy_8(runs + at + i, list + start + i);
    Simd::store_8(runs + at + n, Simd::set_8(padding));
    at += static_cast<std::int32_t>((n + kRunMultiple - 1) / kRunMultiple * kRunMultiple);
    run_end[edge - 1] = at;
    digits += n * edges.digit[edge - 1];
    start = end;
    ++edge;
  };
  for (Index w = 0; w < n_words; ++w) {
    const Word word = a[w] & b[w];
    while (edge < edges.n_runs && edges.begin[edge] < 64 * (w + 1)) {
      end_run(before + Simd::count_bits(word & ((Word{1} << (edges.begin[edge] % 64)) - 1)));
    }
    before += Simd::count_bits(word);
  }
  while (edge <= edges.n_runs) end_run(before);
  return {before, digits};
}

// Add eight rows to planes of weight 1, 2, 4, …
template <class Simd, class Adder, int Planes>
INTERPLAY_INLINE void add_eight_rows(const interplay::Word* rows, const interplay::LaneCount* list,
                                     typename Simd::Bits (&planes)[Planes]) {
  const auto two_rows = [&](int i) INTERPLAY_INLINE_LAMBDA {
    return Adder::two_bits(Simd::load_bits(rows + interplay::Index{list[i]} * interplay::kWordsPerRow),
                           Simd::load_bits(rows + interplay::Index{list[i + 1]} * interplay::kWordsPerRow));
  };
  const auto twos_a = Adder::add_four(planes[0], two_rows(0), two_rows(2));
  const auto twos_b = Adder::add_four(planes[0], two_rows(4), two_rows(6));
  auto carry = Adder::add_two(planes[2], Adder::add_four(planes[1], twos_a, twos_b));
  for (int plane = 3; plane < Planes; ++plane) {
    const auto next = Simd::and_bits(planes[plane], carry);
    planes[plane] = Simd::xor_bits(planes[plane], carry);
    carry = next;
  }
}

// sums += planes · 2^shift
template <class Simd, class Adder, int Planes, int SumPlanes>
INTERPLAY_INLINE void add_shifted(const typename Simd::Bits (&planes)[Planes], int shift,
                                  typename Simd::Bits (&sums)[SumPlanes]) {
  auto carry = Simd::zero_bits();
  for (int i = 0; i < Planes; ++i) carry = Adder::add_two(sums[i + shift], Adder::two_bits(planes[i], carry));
  for (int i = Planes + shift; i < SumPlanes; ++i) {
    const auto next = Simd::and_bits(sums[i], carry);
    sums[i] = Simd::xor_bits(sums[i], carry);
    carry = next;
  }
}

// Planes: hold the number of all listed samples. DigitBits: of the highest digit above that of the first run.
template <class Simd, class Adder, int Planes, int DigitBits>
void sum_lanes_planes(const interplay::Word* rows, const interplay::LaneCount* list,
                      const interplay::DigitRuns& runs, interplay::LaneCount* counts, std::int32_t* sums) {
  using Bits = typename Simd::Bits;
  constexpr int n_sums = Planes + DigitBits;
  Bits planes[Planes], of_digits[n_sums];
  for (Bits& plane : planes) plane = Simd::zero_bits();
  for (Bits& plane : of_digits) plane = Simd::zero_bits();
  for (int run = runs.n_runs - 1; run >= 0; --run) {
    const std::int32_t begin = run == 0 ? 0 : runs.end[run - 1];
    for (std::int32_t i = begin; i < runs.end[run]; i += 8) add_eight_rows<Simd, Adder>(rows, list + i, planes);
    if (run == 0) break;
    const unsigned step = static_cast<unsigned>(runs.digit[run] - runs.digit[run - 1]);
    if (step == 1) {
      add_shifted<Simd, Adder>(planes, 0, of_digits);
      continue;
    }
    for (int bit = 0; bit < DigitBits; ++bit) {
      if (step >> bit & 1) add_shifted<Simd, Adder>(planes, bit, of_digits);
    }
  }
  Simd::template planes_to_counts<Planes>(planes, counts);
  alignas(64) interplay::LaneCount low[interplay::kLanes], high[interplay::kLanes];
  if constexpr (n_sums <= 16) {
    Simd::template planes_to_counts<n_sums>(of_digits, low);
    for (int lane = 0; lane < interplay::kLanes; ++lane) sums[lane] = low[lane];
  } else {
    Simd::template planes_to_counts<12>(of_digits, low);
    Simd::template planes_to_counts<n_sums - 12>(of_digits + 12, high);
    for (int lane = 0; lane < interplay::kLanes; ++lane) sums[lane] = low[lane] | high[lane] << 12;
  }
}

template <class Simd, class Adder, int DigitBits>
constexpr interplay::SumLanes sum_lanes_of_digits(interplay::Index n) {
  return n < 32     ? sum_lanes_planes<Simd, Adder, 5, DigitBits>
         : n < 64   ? sum_lanes_planes<Simd, Adder, 6, DigitBits>
         : n < 128  ? sum_lanes_planes<Simd, Adder, 7, DigitBits>
         : n < 256  ? sum_lanes_planes<Simd, Adder, 8, DigitBits>
         : n < 512  ? sum_lanes_planes<Simd, Adder, 9, DigitBits>
         : n < 1024 ? sum_lanes_planes<Simd, Adder, 10, DigitBits>
         : n < 2048 ? sum_lanes_planes<Simd, Adder, 11, DigitBits>
                    : sum_lanes_planes<Simd, Adder, 14, DigitBits>;
}

template <class Simd, class Adder>
void sum_lanes(const interplay::Word* rows, const interplay::LaneCount* list, const interplay::DigitRuns& runs,
               interplay::LaneCount* counts, std::int32_t* sums) {
  const bool is_short = runs.digit[runs.n_runs - 1] - runs.digit[0] < 16;
  const auto kernel =
      is_short ? sum_lanes_of_digits<Simd, Adder, 4>(runs.n_listed) : sum_lanes_of_digits<Simd, Adder, 8>(runs.n_listed);
  kernel(rows, list, runs, counts, sums);
}

template <class Simd>
void put_sums(const interplay::LaneCount* counts, const std::int32_t* sums, const interplay::SumPart& part,
              const interplay::LaneRuns& runs, std::int32_t* of_counts, std::int32_t* of_sums) {
  for (int run = 0; run < runs.n_runs; ++run, counts += runs.n_lanes, sums += runs.n_lanes) {
    std::int32_t* n = of_counts + run * runs.stride;
    std::int32_t* s = of_sums + run * runs.stride;
    if (part.counts_too) {
      for (int lane = 0; lane < runs.n_lanes; ++lane) n[lane] = (part.is_first ? 0 : n[lane]) + counts[lane];
    }
    const bool clears = part.is_first && part.counts_too;
    for (int lane = 0; lane < runs.n_lanes; ++lane) {
      s[lane] = (clears ? 0 : s[lane]) + part.weight * sums[lane] + part.of_each * counts[lane];
    }
  }
}

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
    n_survivors = list_survivors<Simd>(information_of<Simd, true>(model.sums, squares), to_beat, lane, job, n_survivors);
  }
  return n_survivors;
}

template <class Simd, int Prefix>
void information_sum_lanes(const interplay::LevelModel& model, const interplay::SumCounts& counts, int first_lane,
                           int last_lane, float* lower) {
  constexpr int width = Simd::kFloats;
  for (int lane = first_lane / width * width; lane < last_lane; lane += width) {
    Simd::store_floats(lower + lane,
                       information_of<Simd, false>(model.sums, squares_from<Simd, Prefix>(counts, lane)));
  }
}

template <class Simd, class WideSimd, class Adder>
constexpr interplay::SumKernels make_sum_kernels() {
  interplay::SumKernels kernels{};
  kernels.list_runs = list_runs<Simd>;
  kernels.sum_lanes = sum_lanes<Simd, Adder>;
  kernels.put = put_sums<Simd>;
  kernels.score = score_sum_lanes<WideSimd, -1>;
  kernels.score_two_levels[0] = score_sum_lanes<WideSimd, 1>;
  kernels.score_two_levels[1] = score_sum_lanes<WideSimd, 2>;
  kernels.score_two_levels[2] = score_sum_lanes<WideSimd, 3>;
  kernels.score_two_levels[3] = score_sum_lanes<WideSimd, 4>;
  kernels.information_any = information_sum_lanes<WideSimd, -1>;
  kernels.information_two_levels[0] = information_sum_lanes<WideSimd, 0>;
  kernels.information_two_levels[1] = information_sum_lanes<WideSimd, 1>;
  kernels.information_two_levels[2] = information_sum_lanes<WideSimd, 2>;
  kernels.information_two_levels[3] = information_sum_lanes<WideSimd, 3>;
  return kernels;
}

}  // namespace
