// The lane kernels for any instruction set. `Simd` says what the registers are; it lives in an unnamed namespace of
// the including file, and nothing of std:: may be instantiated here (see tuple_counts-inl.hpp).
//
// Simd has: Bits (256 bits), Counts (16 × u16), Floats (8 × f32), and the functions used below.
#pragma once

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#include "interplay/lane_kernels.hpp"

namespace {

using interplay::Index;
using interplay::kLanes;
using interplay::kMaxSubsets;
using interplay::kWordsPerRow;
using interplay::LaneCount;
using interplay::LaneCounts;
using interplay::LaneKernels;
using interplay::LaneModel;
using interplay::LaneScoreJob;
using interplay::Word;

// Not std::countr_zero: see above.
inline int lowest_bit(int mask) {
#if defined(_MSC_VER)
  unsigned long bit;
  _BitScanForward(&bit, static_cast<unsigned long>(mask));
  return static_cast<int>(bit);
#else
  return __builtin_ctz(static_cast<unsigned>(mask));
#endif
}

// Numbers of the set bits of every byte, for list_samples.
struct BitsOfByte {
  alignas(16) LaneCount positions[256][8];
  std::uint8_t number[256];

  constexpr BitsOfByte() : positions{}, number{} {
    for (int byte = 0; byte < 256; ++byte) {
      int n = 0;
      for (int bit = 0; bit < 8; ++bit) {
        if (byte >> bit & 1) positions[byte][n++] = static_cast<LaneCount>(bit);
      }
      number[byte] = static_cast<std::uint8_t>(n);
    }
  }
};
constexpr BitsOfByte kBitsOfByte{};

template <class Simd>
Index list_samples(const Word* a, const Word* b, Index n_words, LaneCount* list) {
  LaneCount* end = list;
  for (Index w = 0; w < n_words; ++w) {
    const Word word = a[w] & b[w];
    for (int byte = 0; byte < 8; ++byte) {
      const int bits = static_cast<int>(word >> (8 * byte) & 0xff);
      // Eight numbers are stored whatever the byte holds; the next byte overwrites those that do not count.
      Simd::store_8_plus(end, kBitsOfByte.positions[bits], static_cast<LaneCount>(w * 64 + byte * 8));
      end += kBitsOfByte.number[bits];
    }
  }
  return end - list;
}

// Sixteen rows are added to bit planes of weight 1, 2, 4, 8, and what carries out of these to the planes of weight 16
// and more: a ripple, but only once in sixteen rows.
template <class Simd, int HighPlanes>
void count_lanes_planes(const Word* rows, const LaneCount* list, Index n_padded, LaneCount* counts) {
  using Bits = typename Simd::Bits;
  constexpr int n_planes = 4 + HighPlanes;
  Bits planes[n_planes];
  for (int i = 0; i < n_planes; ++i) planes[i] = Simd::zero_bits();
  Bits ones = planes[0], twos = ones, fours = ones, eights = ones;
  const auto row = [&](Index i) { return Simd::load_bits(rows + Index{list[i]} * kWordsPerRow); };
  for (Index i = 0; i < n_padded; i += 16) {
    Bits twos_a, twos_b, fours_a, fours_b, eights_a, eights_b, carry;
    Simd::add3(twos_a, ones, ones, row(i), row(i + 1));
    Simd::add3(twos_b, ones, ones, row(i + 2), row(i + 3));
    Simd::add3(fours_a, twos, twos, twos_a, twos_b);
    Simd::add3(twos_a, ones, ones, row(i + 4), row(i + 5));
    Simd::add3(twos_b, ones, ones, row(i + 6), row(i + 7));
    Simd::add3(fours_b, twos, twos, twos_a, twos_b);
    Simd::add3(eights_a, fours, fours, fours_a, fours_b);
    Simd::add3(twos_a, ones, ones, row(i + 8), row(i + 9));
    Simd::add3(twos_b, ones, ones, row(i + 10), row(i + 11));
    Simd::add3(fours_a, twos, twos, twos_a, twos_b);
    Simd::add3(twos_a, ones, ones, row(i + 12), row(i + 13));
    Simd::add3(twos_b, ones, ones, row(i + 14), row(i + 15));
    Simd::add3(fours_b, twos, twos, twos_a, twos_b);
    Simd::add3(eights_b, fours, fours, fours_a, fours_b);
    Simd::add3(carry, eights, eights, eights_a, eights_b);
    for (int plane = 4; plane < n_planes; ++plane) {
      const Bits next = Simd::and_bits(planes[plane], carry);
      planes[plane] = Simd::xor_bits(planes[plane], carry);
      carry = next;
    }
  }
  planes[0] = ones;
  planes[1] = twos;
  planes[2] = fours;
  planes[3] = eights;
  Simd::template planes_to_counts<n_planes>(planes, counts);
}

template <class Simd>
void count_lanes(const Word* rows, const LaneCount* list, Index n_padded, LaneCount* counts) {
  if (n_padded < 256) {
    count_lanes_planes<Simd, 4>(rows, list, n_padded, counts);
  } else if (n_padded < 1024) {
    count_lanes_planes<Simd, 6>(rows, list, n_padded, counts);
  } else {
    count_lanes_planes<Simd, 12>(rows, list, n_padded, counts);
  }
}

// Samples of each cell of the prefix with the lane at 1, from the counts of "at least these are 1".
template <class Simd, int Prefix>
void cells_with_lane(const LaneCount* const* with_lane, int lane, typename Simd::Counts* cells) {
  constexpr int n = 1 << Prefix;
  for (int s = 0; s < n; ++s) cells[s] = Simd::load_counts(with_lane[s] + lane);
  for (int member = 0; member < Prefix; ++member) {
    for (int s = 0; s < n; ++s) {
      if (!(s >> member & 1)) cells[s] = Simd::sub_counts(cells[s], cells[s | 1 << member]);
    }
  }
}

// Upper bound of the information of a cell; `total` and `of_class_0` without pseudocounts.
template <class Simd>
struct BoundScore {
  using Floats = typename Simd::Floats;
  Floats share, pseudo, a, b, c;

  explicit BoundScore(const LaneModel& model)
      : share(Simd::set_float(model.share)),
        pseudo(Simd::set_float(model.pseudo_0 + model.pseudo_1)),
        a(Simd::set_float(model.a)),
        b(Simd::set_float(model.b)),
        c(Simd::set_float(model.c)) {}

  Floats add_cell(Floats sum, Floats total, Floats of_class_0) const {
    // The pseudocounts are shared out like the classes, so they drop out of D.
    const Floats d = Simd::negative_multiply_add(share, total, of_class_0);
    const Floats delta = Simd::multiply(d, Simd::reciprocal(Simd::add(total, pseudo)));
    const Floats factor = Simd::multiply_add(Simd::multiply_add(c, delta, b), delta, a);
    return Simd::multiply_add(Simd::multiply(d, delta), factor, sum);
  }
  static Floats finish(Floats sum, const LaneModel& model) {
    return Simd::multiply(sum, Simd::set_float(model.inflation));
  }
};

// The information itself, to float precision.
template <class Simd>
struct LogarithmScore {
  using Floats = typename Simd::Floats;
  Floats pseudo_0, pseudo_1, scale_0, scale_1;

  LogarithmScore(const LaneModel& model, float multiplicity)
      : pseudo_0(Simd::set_float(multiplicity * model.pseudo_0)),
        pseudo_1(Simd::set_float(multiplicity * model.pseudo_1)),
        scale_0(Simd::set_float(model.log_scale_0)),
        scale_1(Simd::set_float(model.log_scale_1)) {}
  explicit LogarithmScore(const LaneModel& model) : LogarithmScore(model, 1.0f) {}

  Floats add_cell(Floats sum, Floats total, Floats of_class_0) const {
    const Floats n_0 = Simd::add(of_class_0, pseudo_0);
    const Floats n_1 = Simd::add(Simd::subtract(total, of_class_0), pseudo_1);
    const Floats inverse = Simd::divide(Simd::set_float(1.0f), Simd::add(n_0, n_1));
    sum = Simd::multiply_add(n_0, logarithm(Simd::multiply(n_0, Simd::multiply(inverse, scale_0))), sum);
    return Simd::multiply_add(n_1, logarithm(Simd::multiply(n_1, Simd::multiply(inverse, scale_1))), sum);
  }
  static Floats finish(Floats sum, const LaneModel&) { return sum; }

 private:
  // log2 to 4e-7: exponent, and a polynomial for the mantissa between 0.75 and 1.5.
  static Floats logarithm(Floats x) {
    Floats exponent, y;
    Simd::split(x, exponent, y);
    Floats p = Simd::set_float(0.113639697432518f);
    p = Simd::multiply_add(p, y, Simd::set_float(-0.23998570442199707f));
    p = Simd::multiply_add(p, y, Simd::set_float(0.29970452189445496f));
    p = Simd::multiply_add(p, y, Simd::set_float(-0.3620622158050537f));
    p = Simd::multiply_add(p, y, Simd::set_float(0.48052629828453064f));
    p = Simd::multiply_add(p, y, Simd::set_float(-0.7213086485862732f));
    p = Simd::multiply_add(p, y, Simd::set_float(1.4426984786987305f));
    return Simd::multiply_add(p, y, exponent);
  }
};

// Sum of a score over all cells, for lanes lane … lane + 15.
template <class Simd, int Prefix, class Score>
void score_16_lanes(const LaneCounts& counts, const Score& score, int lane, typename Simd::Floats (&sums)[2]) {
  using Counts = typename Simd::Counts;
  constexpr int n = 1 << Prefix;
  Counts of_class_0[n], of_class_1[n];
  cells_with_lane<Simd, Prefix>(counts.with_lane[0], lane, of_class_0);
  cells_with_lane<Simd, Prefix>(counts.with_lane[1], lane, of_class_1);
  sums[0] = sums[1] = Simd::set_float(0.0f);
  for (int s = 0; s < n; ++s) {
    const Counts total = Simd::add_counts(of_class_0[s], of_class_1[s]);
    sums[0] = score.add_cell(sums[0], Simd::low_floats(total), Simd::low_floats(of_class_0[s]));
    sums[1] = score.add_cell(sums[1], Simd::high_floats(total), Simd::high_floats(of_class_0[s]));
    // The lane at 0: what the prefix has beyond the lane at 1.
    const int in_prefix = counts.prefix_cells[0][s] + counts.prefix_cells[1][s];
    const Counts rest = Simd::sub_counts(Simd::set_counts(static_cast<LaneCount>(in_prefix)), total);
    const Counts rest_0 =
        Simd::sub_counts(Simd::set_counts(static_cast<LaneCount>(counts.prefix_cells[0][s])), of_class_0[s]);
    sums[0] = score.add_cell(sums[0], Simd::low_floats(rest), Simd::low_floats(rest_0));
    sums[1] = score.add_cell(sums[1], Simd::high_floats(rest), Simd::high_floats(rest_0));
  }
}

template <class Simd, int Dimensions, class Score>
int score_lanes(const LaneModel& model, const LaneScoreJob& job) {
  using Floats = typename Simd::Floats;
  constexpr int prefix = Dimensions - 1;
  const Score score(model);
  const Floats slack = Simd::set_float(model.slack);
  int n_survivors = 0;
  for (int lane = job.first_lane & ~15; lane < job.last_lane; lane += 16) {
    Floats sums[2];
    score_16_lanes<Simd, prefix>(job.counts, score, lane, sums);
    for (int half = 0; half < 2; ++half) {
      const int first = lane + 8 * half;
      Floats to_beat = Simd::add(Simd::load_floats(job.best_of_lane + first), Simd::set_float(job.without_lane));
      for (int member = 0; member < prefix; ++member) {
        to_beat = Simd::minimum(to_beat, Simd::add(Simd::load_floats(job.without_member[member] + first),
                                                   Simd::set_float(job.best_of_member[member])));
      }
      int mask = Simd::at_least(Simd::add(Score::finish(sums[half], model), slack), to_beat);
      while (mask) {
        const int survivor = first + lowest_bit(mask);
        mask &= mask - 1;
        if (survivor >= job.first_lane && survivor < job.last_lane) {
          job.survivors[n_survivors++] = static_cast<std::int16_t>(survivor);
        }
      }
    }
  }
  return n_survivors;
}

template <class Simd, int Dimensions>
void information_lanes(const LaneModel& model, const LaneCounts& counts, float* lower) {
  using Floats = typename Simd::Floats;
  // A sub-tuple's cell gathers two cells of the full table.
  const LogarithmScore<Simd> score(model, 2.0f);
  const Floats slack = Simd::set_float(model.slack);
  for (int lane = 0; lane < kLanes; lane += 16) {
    Floats sums[2];
    score_16_lanes<Simd, Dimensions - 1>(counts, score, lane, sums);
    Simd::store_floats(lower + lane, Simd::subtract(sums[0], slack));
    Simd::store_floats(lower + lane + 8, Simd::subtract(sums[1], slack));
  }
}

template <class Simd>
constexpr LaneKernels make_lane_kernels() {
  LaneKernels kernels{};
  kernels.list_samples = list_samples<Simd>;
  kernels.count_lanes = count_lanes<Simd>;
  kernels.score_bound[2] = score_lanes<Simd, 2, BoundScore<Simd>>;
  kernels.score_bound[3] = score_lanes<Simd, 3, BoundScore<Simd>>;
  kernels.score_bound[4] = score_lanes<Simd, 4, BoundScore<Simd>>;
  kernels.score_bound[5] = score_lanes<Simd, 5, BoundScore<Simd>>;
  kernels.score_logarithms[2] = score_lanes<Simd, 2, LogarithmScore<Simd>>;
  kernels.score_logarithms[3] = score_lanes<Simd, 3, LogarithmScore<Simd>>;
  kernels.score_logarithms[4] = score_lanes<Simd, 4, LogarithmScore<Simd>>;
  kernels.score_logarithms[5] = score_lanes<Simd, 5, LogarithmScore<Simd>>;
  kernels.information[1] = information_lanes<Simd, 1>;
  kernels.information[2] = information_lanes<Simd, 2>;
  kernels.information[3] = information_lanes<Simd, 3>;
  kernels.information[4] = information_lanes<Simd, 4>;
  return kernels;
}

}  // namespace
