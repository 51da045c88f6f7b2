// Bounds for any number of levels and two classes, whose counts lie side by side, 16 lanes at a time. Included by
// lane_kernels-inl.hpp.
//
// Bottleneck: the arithmetic of the bound, one reciprocal per cell. Where cells are small, small_cells-inl.hpp has
// another.
#pragma once

#include "kernels/lane_kernels.hpp"
#include "kernels/lane_scores-inl.hpp"
#include "kernels/lowest_bit-inl.hpp"
#include "kernels/paired_cells-inl.hpp"

namespace {

// Sum of a score over all cells, for lanes lane … lane + 15.
template <class Simd, int Levels, int Members, class Score>
INTERPLAY_INLINE void score_16_paired_lanes(const interplay::PairedCounts& counts, const TwoClassSums<Simd>& of,
                                            const Score& score, int lane,
                                            typename Simd::Floats (&sums)[PairBlock<Simd>::kRegisters]) {
  for (auto& sum : sums) sum = Simd::set_float(0.0f);
  for_paired_cells<PairBlock<Simd>, Levels, Members, false>(
      counts, lane, [&](const auto& cell) INTERPLAY_INLINE_LAMBDA {
        for (int i = 0; i < PairBlock<Simd>::kRegisters; ++i) {
          sums[i] = score.add_cell(sums[i], of.total(cell.of[i]), of.weighed(cell.of[i]));
        }
      });
}

// The addition to the thresholds of lanes lane … lane + 15: not 0 where no cell lacks a class.
template <class Simd, bool Bytes>
void more_to_reach_paired(const interplay::PairedScoreJob& job, const TwoClassSums<Simd>& of, int lane,
                          typename Simd::Floats (&more)[PairBlock<Simd>::kRegisters]) {
  PairBlock<Simd> least = PairBlock<Simd>::set(interplay::class_counts(1, 1));
  const auto take = [&](const PairBlock<Simd>& cell) { least.keep_least(cell); };
  for_paired_cells<PairBlock<Simd>, 0, Bytes ? 2 : 0, Bytes>(job.counts, lane, take);
  for (int i = 0; i < PairBlock<Simd>::kRegisters; ++i) {
    // 2 where both classes have at least one everywhere
    const auto beyond_one = Simd::subtract(of.total(least.of[i]), Simd::set_float(1.0f));
    const auto is_positive = Simd::maximum(beyond_one, Simd::set_float(0.0f));
    more[i] = Simd::multiply(is_positive, Simd::set_float(job.more_if_no_zero));
  }
}

template <class Simd, int Levels, int Members, class Score>
int score_paired_lanes(const interplay::LevelModel& model, const interplay::PairedScoreJob& job) {
  using Floats = typename Simd::Floats;
  constexpr int n_registers = PairBlock<Simd>::kRegisters;
  const Score score(model.two_classes, 1.0f);
  const TwoClassSums<Simd> of(model.two_classes);
  const Floats factor = Simd::set_float(Score::factor(model.two_classes));
  const Floats slack = Simd::set_float(model.slack);
  int n_survivors = 0;
  for (int lane = job.first_lane & ~15; lane < job.last_lane; lane += 16) {
    Floats sums[n_registers], more[n_registers];
    score_16_paired_lanes<Simd, Levels, Members>(job.counts, of, score, lane, sums);
    bool knows_more = false;
    for (int i = 0; i < n_registers; ++i) {
      const int first = lane + i * Simd::kFloats;
      const Floats bound = Simd::multiply_add(sums[i], factor, slack);
      Floats to_beat = least_to_beat<Simd>(1, job.counts.shape.n_prefix, first, job);
      if (job.more_if_no_zero > 0 && Simd::at_least(bound, to_beat)) {
        if (!knows_more) more_to_reach_paired<Simd, false>(job, of, lane, more);
        knows_more = true;
        to_beat = Simd::add(to_beat, more[i]);
      }
      n_survivors = list_survivors<Simd>(bound, to_beat, first, job, n_survivors);
    }
  }
  return n_survivors;
}

template <class Simd>
void information_paired_lanes(const interplay::LevelModel& model, const interplay::PairedCounts& counts,
                              float multiplicity, int first_lane, int last_lane, float* lower) {
  using Floats = typename Simd::Floats;
  using Score = RationalScore<Simd, false>;
  const Score score(model.two_classes, multiplicity);
  const TwoClassSums<Simd> of(model.two_classes);
  const Floats factor = Simd::set_float(Score::factor(model.two_classes));
  const Floats slack = Simd::set_float(-model.slack);
  for (int lane = first_lane & ~15; lane < last_lane; lane += 16) {
    Floats sums[PairBlock<Simd>::kRegisters];
    score_16_paired_lanes<Simd, 0, 0>(counts, of, score, lane, sums);
    for (int i = 0; i < PairBlock<Simd>::kRegisters; ++i) {
      Simd::store_floats(lower + lane + i * Simd::kFloats, Simd::multiply_add(sums[i], factor, slack));
    }
  }
}

template <class Simd>
void put_pairs(const interplay::LaneCount* class_0, const interplay::LaneCount* class_1,
               const interplay::LaneRuns& runs, interplay::ClassCounts* counts) {
  for (int run = 0; run < runs.n_runs; ++run, counts += runs.stride) {
    for (int lane = 0; lane < runs.n_lanes; lane += 16, class_0 += 16, class_1 += 16) {
      Simd::store_pairs(counts + lane, Simd::load_counts(class_0), Simd::load_counts(class_1));
    }
  }
}

template <class Simd>
void add_pairs(const interplay::LaneCount* class_0, const interplay::LaneCount* class_1,
               const interplay::LaneRuns& runs, interplay::ClassCounts* counts) {
  for (int run = 0; run < runs.n_runs; ++run, counts += runs.stride) {
    for (int lane = 0; lane < runs.n_lanes; ++lane) {
      counts[lane] += class_0[lane] | static_cast<interplay::ClassCounts>(class_1[lane]) << 16;
    }
    class_0 += runs.n_lanes;
    class_1 += runs.n_lanes;
  }
}

template <class Simd, int Levels, int Members>
constexpr void set_paired_kernels(interplay::PairedKernels& kernels) {
  kernels.score_polynomial[Members][Levels] = score_paired_lanes<Simd, Levels, Members, PolynomialScore<Simd, true>>;
  kernels.score_even[Members][Levels] = score_paired_lanes<Simd, Levels, Members, PolynomialScore<Simd, true, true>>;
}

// ScoreSimd: bounds may be computed with wider registers.
template <class Simd, class ScoreSimd>
constexpr interplay::PairedKernels make_paired_kernels() {
  interplay::PairedKernels kernels{};
  kernels.put = put_pairs<Simd>;
  kernels.add = add_pairs<Simd>;
  set_paired_kernels<ScoreSimd, 0, 0>(kernels);
  set_paired_kernels<ScoreSimd, 0, 1>(kernels);
  set_paired_kernels<ScoreSimd, 3, 1>(kernels);
  set_paired_kernels<ScoreSimd, 4, 1>(kernels);
  set_paired_kernels<ScoreSimd, 0, 2>(kernels);
  set_paired_kernels<ScoreSimd, 3, 2>(kernels);
  set_paired_kernels<ScoreSimd, 4, 2>(kernels);
  kernels.score_rational[0] = score_paired_lanes<ScoreSimd, 0, 0, RationalScore<ScoreSimd, true>>;
  kernels.score_rational[1] = score_paired_lanes<ScoreSimd, 0, 1, RationalScore<ScoreSimd, true>>;
  kernels.score_rational[2] = score_paired_lanes<ScoreSimd, 0, 2, RationalScore<ScoreSimd, true>>;
  kernels.information = information_paired_lanes<ScoreSimd>;
  return kernels;
}

}  // namespace
