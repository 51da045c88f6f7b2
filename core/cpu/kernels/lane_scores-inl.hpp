// Bounds of the information of a cell, for any instruction set (see lane_kernels-inl.hpp).
//
// A cell with n_q samples of class q (pseudocounts included), n in all, has the information Σ n_q·log2(n_q / (n·s_q)),
// s_q the share of the class among all samples. With T_q = n·s_q and D_q = n_q − T_q that is Σ T_q·φ(D_q / T_q) / ln 2,
// φ(x) = (1 + x)·ln(1 + x) − x, since the D_q add up to 0.
#pragma once

#include "kernels/lane_kernels.hpp"
#include "kernels/lowest_bit-inl.hpp"

namespace {

// The samples of a cell of two classes, and the excess of class 0 over its share: D_0 / scale. From lanes of
// ClassCounts.
template <class Simd>
struct TwoClassSums {
  typename Simd::Counts ones, weights;

  explicit TwoClassSums(const interplay::LaneModel& model)
      : ones(Simd::set_pairs(1 | 1 << 16)),
        weights(Simd::set_pairs(static_cast<std::uint16_t>(model.weights[0]) |
                                static_cast<std::uint32_t>(static_cast<std::uint16_t>(model.weights[1])) << 16)) {}

  typename Simd::Floats total(typename Simd::Counts pairs) const { return Simd::sum_of_products(pairs, ones); }
  typename Simd::Floats weighed(typename Simd::Counts pairs) const { return Simd::sum_of_products(pairs, weights); }
};

// φ(x) lies between 3x² / (2·(3 + x)), which is Bernstein's inequality, and x²·(3 + x) / (6 + 4x). The latter follows
// from ln(1 + x) ≤ x·(6 + x) / (6 + 4x): both sides are 0 at x = 0, and the derivative of their difference is
// 4x³ / ((6 + 4x)²·(1 + x)), which has the sign of x. Applied to 1 / (1 + x) the same gives the former. With W = 3T,
// one class adds between D² / (W + D) and D²·(W + D) / (W·(W + 2D)), times 3 / (2·ln 2). All terms are positive, so an
// error of the reciprocal is an error of the sum, no more.
inline constexpr float kRationalFactor = 2.1640426f;          // 3 / (2·ln 2), rounded up; rounding is made up for below
inline constexpr float kRationalInflation = 1.0f + 0x1p-11f;  // a reciprocal is good to 1.5 · 2⁻¹²

// Two classes of any shares. Upper: of a tuple, else the lower bound of a sub-tuple.
template <class Simd, bool Upper>
struct RationalScore {
  using Floats = typename Simd::Floats;
  Floats scale, share_3, pseudo, three, two;

  RationalScore(const interplay::LaneModel& model, float multiplicity)
      : scale(Simd::set_float(model.scale)),
        share_3(Simd::set_float(3.0f * model.share)),
        pseudo(Simd::set_float(multiplicity * model.pseudo)),
        three(Simd::set_float(3.0f)),
        two(Simd::set_float(2.0f)) {}

  // `total` and `weighed` (D / scale) without pseudocounts: these are shared out like the classes, so they drop out of
  // D.
  Floats add_cell(Floats sum, Floats total, Floats weighed) const {
    const Floats n = Simd::add(total, pseudo);
    const Floats d = Simd::multiply(weighed, scale);
    const Floats w_0 = Simd::multiply(share_3, n);
    const Floats w_1 = Simd::negative_multiply_add(share_3, n, Simd::multiply(three, n));
    const Floats near_0 = Simd::add(w_0, d), near_1 = Simd::subtract(w_1, d);
    const Floats d_squared = Simd::multiply(d, d);
    if constexpr (Upper) {
      const Floats far_0 = Simd::multiply(w_0, Simd::multiply_add(two, d, w_0));
      const Floats far_1 = Simd::multiply(w_1, Simd::negative_multiply_add(two, d, w_1));
      const Floats term_0 = Simd::multiply(near_0, Simd::reciprocal(far_0));
      return Simd::multiply_add(d_squared, Simd::multiply_add(near_1, Simd::reciprocal(far_1), term_0), sum);
    } else {
      return Simd::multiply_add(d_squared, Simd::add(Simd::reciprocal(near_0), Simd::reciprocal(near_1)), sum);
    }
  }
  static float factor(const interplay::LaneModel&) {
    return kRationalFactor * (Upper ? kRationalInflation : 2.0f - kRationalInflation);
  }
};

// Two classes of nearly equal shares: cheaper, and as tight. Polynomials P in δ = D / n, see LaneModel. They are
// computed as last · ((δ² + first·δ + second)² + third·δ + fourth), with three multiplications instead of the four of
// Horner's rule: multiplications are the bottleneck. Even polynomials have two.
template <class Simd, bool Upper, bool Even = false>
struct PolynomialScore {
  using Floats = typename Simd::Floats;
  Floats pseudo, first, second, third, fourth;

  PolynomialScore(const interplay::LaneModel& model, float multiplicity)
      : pseudo(Simd::set_float(multiplicity * model.pseudo)) {
    const interplay::SquaredPolynomial& p = Upper ? model.upper : model.lower;
    first = Simd::set_float(p.first);
    second = Simd::set_float(p.second);
    third = Simd::set_float(p.third);
    fourth = Simd::set_float(p.fourth);
  }

  Floats add_cell(Floats sum, Floats total, Floats weighed) const {
    const Floats delta = Simd::multiply(weighed, Simd::reciprocal(Simd::add(total, pseudo)));
    Floats square, rest;
    if constexpr (Even) {
      square = Simd::multiply_add(delta, delta, second);
      rest = fourth;
    } else {
      square = Simd::multiply_add(Simd::add(delta, first), delta, second);
      rest = Simd::multiply_add(third, delta, fourth);
    }
    const Floats factor = Simd::multiply_add(square, square, rest);
    return Simd::multiply_add(Simd::multiply(weighed, delta), factor, sum);
  }
  static float factor(const interplay::LaneModel& model) {
    return Upper ? model.upper.last * model.inflation : model.lower.last * (2.0f - model.inflation);
  }
};

// Any number of classes; `Classes` is that number, or 0 if it is only known at run time.
template <class Simd, int Classes, bool Upper>
struct ClassesScore {
  using Floats = typename Simd::Floats;
  const interplay::LevelModel& model;
  Floats pseudo, two;

  ClassesScore(const interplay::LevelModel& model_, float multiplicity)
      : model(model_), pseudo(Simd::set_float(multiplicity * model_.pseudo)), two(Simd::set_float(2.0f)) {}

  // counts: 16 lanes of each class, without pseudocounts
  INTERPLAY_INLINE void add_cell(Floats (&sums)[2], const typename Simd::Counts* counts) const {
    const int n_classes = Classes ? Classes : model.n_classes;
    Floats low[Classes ? Classes : interplay::kMaxLevelClasses], high[Classes ? Classes : interplay::kMaxLevelClasses];
    for (int q = 0; q < n_classes; ++q) {
      low[q] = Simd::low_floats(counts[q]);
      high[q] = Simd::high_floats(counts[q]);
    }
    sums[0] = add_half(sums[0], low);
    sums[1] = add_half(sums[1], high);
  }
  static float factor(const interplay::LevelModel&) {
    return kRationalFactor * (Upper ? kRationalInflation : 2.0f - kRationalInflation);
  }

 private:
  INTERPLAY_INLINE Floats add_half(Floats sum, const Floats* counts) const {
    const int n_classes = Classes ? Classes : model.n_classes;
    Floats total = counts[0];
    for (int q = 1; q < n_classes; ++q) total = Simd::add(total, counts[q]);
    const Floats n = Simd::add(total, pseudo);
    for (int q = 0; q < n_classes; ++q) {
      const Floats d = Simd::negative_multiply_add(Simd::set_float(model.share[q]), total, counts[q]);
      const Floats w = Simd::multiply(Simd::set_float(model.share_3[q]), n);
      const Floats near = Simd::add(w, d);
      const Floats d_squared = Simd::multiply(d, d);
      if constexpr (Upper) {
        const Floats far = Simd::multiply(w, Simd::multiply_add(two, d, w));
        sum = Simd::multiply_add(d_squared, Simd::multiply(near, Simd::reciprocal(far)), sum);
      } else {
        sum = Simd::multiply_add(d_squared, Simd::reciprocal(near), sum);
      }
    }
    return sum;
  }
};

// The least that the bound of a register's lanes, from `first` on, has to reach.
template <class Simd>
INTERPLAY_INLINE typename Simd::Floats least_to_beat(int n_parts, int n_prefix, int first,
                                                     const interplay::LanesToBeat& job) {
  const auto of_part = [&](int part) {
    return Simd::add(Simd::load_floats(job.best_of_part[part] + first),
                     Simd::load_floats(job.without_part[part] + first));
  };
  const auto of_member = [&](int member) {
    return Simd::add(Simd::load_floats(job.without_member[member] + first),
                     Simd::set_float(job.best_of_member[member]));
  };
  typename Simd::Floats to_beat = of_part(0);
  if (job.every_member) {
    for (int part = 1; part < n_parts; ++part) to_beat = Simd::maximum(to_beat, of_part(part));
    for (int member = 0; member < n_prefix; ++member) to_beat = Simd::maximum(to_beat, of_member(member));
    return to_beat;
  }
  for (int part = 1; part < n_parts; ++part) to_beat = Simd::minimum(to_beat, of_part(part));
  for (int member = 0; member < n_prefix; ++member) to_beat = Simd::minimum(to_beat, of_member(member));
  return to_beat;
}

// Add the lanes of a register, from `first` on, whose bound reaches the threshold; returns the number of all lanes
// added so far.
template <class Simd>
INTERPLAY_INLINE int list_survivors(typename Simd::Floats bound, typename Simd::Floats to_beat, int first,
                                    const interplay::LanesToBeat& job, int n_survivors) {
  int mask = Simd::at_least(bound, to_beat);
  if (!mask) return n_survivors;
  float bounds[Simd::kFloats];
  Simd::store_floats(bounds, bound);
  for (; mask; mask &= mask - 1) {
    const int lane = lowest_bit(mask);
    if (first + lane < job.first_lane || first + lane >= job.last_lane) continue;
    job.survivors[n_survivors++] = {static_cast<std::int16_t>(first + lane), bounds[lane]};
  }
  return n_survivors;
}

}  // namespace
