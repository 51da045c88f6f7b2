// Bounds for any number of levels and two classes, whose counts lie side by side, 16 lanes at a time. Included by
// lane_kernels-inl.hpp.
//
// Bottleneck: the arithmetic of the bound, one reciprocal per cell. Cells with members at level 0 are made from the
// counts of patterns when they are scored: with up to two members in the prefix, reading these counts again costs less
// than keeping what registers have no room for.
#pragma once

#include "bounds/lane_scores-inl.hpp"
#include "simd/lane_kernels.hpp"
#include "simd/lowest_bit-inl.hpp"

namespace {

// The counts of 16 lanes.
template <class Simd>
struct PairBlock {
  static constexpr int kRegisters = 16 / Simd::kFloats;
  typename Simd::Counts of[kRegisters];

  INTERPLAY_INLINE static PairBlock load(const interplay::ClassCounts* lanes) {
    PairBlock block;
    for (int i = 0; i < kRegisters; ++i) block.of[i] = Simd::load_pairs(lanes + i * Simd::kFloats);
    return block;
  }
  INTERPLAY_INLINE static PairBlock set(interplay::ClassCounts counts) {
    PairBlock block;
    for (int i = 0; i < kRegisters; ++i) block.of[i] = Simd::set_pairs(counts);
    return block;
  }
  INTERPLAY_INLINE void subtract(const PairBlock& other) {
    for (int i = 0; i < kRegisters; ++i) of[i] = Simd::sub_counts(of[i], other.of[i]);
  }
  INTERPLAY_INLINE void keep_least(const PairBlock& other) {
    for (int i = 0; i < kRegisters; ++i) of[i] = Simd::min_counts(of[i], other.of[i]);
  }
};

// Call take(counts) with the counts of each cell of the tuples of lanes lane … lane + 15. Levels: of every member and
// of the lane, or 0 if they are only known at run time.
template <class Simd, int Levels>
struct PairedCells {
  using Block = PairBlock<Simd>;
  const interplay::PairedCounts& counts;
  const int lane;

  int levels_of(int member) const { return Levels ? Levels : counts.shape.levels[member]; }
  int n_upper() const { return (Levels ? Levels : counts.shape.lane_levels) - 1; }
  // Level `upper` + 1 of the lanes, with a pattern of the prefix.
  INTERPLAY_INLINE Block at(int pattern, int upper) const {
    return Block::load(counts.with_lane[pattern] + upper * counts.shape.lane_stride + lane);
  }

  // The cells of one cell of the prefix: counts_of(upper) with each level from 1 on of the lane, and what is left.
  template <class CountsOf, class Take>
  INTERPLAY_INLINE void of_prefix_cell(int cell, const CountsOf& counts_of, const Take& take) const {
    Block rest = Block::set(counts.prefix_cells[cell]);
    for (int upper = 0; upper < n_upper(); ++upper) {
      const Block with_lane = counts_of(upper);
      rest.subtract(with_lane);
      take(with_lane);
    }
    take(rest);
  }

  template <class Take>
  INTERPLAY_INLINE void of_one_member(const Take& take) const {
    const int n = levels_of(0);
    for (int level = 1; level < n; ++level) {
      of_prefix_cell(level, [&](int upper) { return at(level, upper); }, take);
    }
    const auto at_zero = [&](int upper) {
      Block block = at(0, upper);
      for (int level = 1; level < n; ++level) block.subtract(at(level, upper));
      return block;
    };
    of_prefix_cell(0, at_zero, take);
  }

  template <class Take>
  INTERPLAY_INLINE void of_two_members(const Take& take) const {
    const int n = levels_of(0), n_patterns = n * levels_of(1);
    // Where both members are at level 0: what has the first there, less what has the second elsewhere.
    Block both_zero[interplay::kMaxLaneLevels - 1];
    for (int upper = 0; upper < n_upper(); ++upper) {
      both_zero[upper] = at(0, upper);
      for (int level = 1; level < n; ++level) both_zero[upper].subtract(at(level, upper));
    }
    for (int first = n; first < n_patterns; first += n) {
      for (int level = 1; level < n; ++level) {
        of_prefix_cell(first + level, [&](int upper) { return at(first + level, upper); }, take);
      }
      const auto first_at_zero = [&](int upper) {
        Block block = at(first, upper);
        for (int level = 1; level < n; ++level) block.subtract(at(first + level, upper));
        both_zero[upper].subtract(block);
        return block;
      };
      of_prefix_cell(first, first_at_zero, take);
    }
    for (int level = 1; level < n; ++level) {
      const auto second_at_zero = [&](int upper) {
        Block block = at(level, upper);
        for (int first = n; first < n_patterns; first += n) block.subtract(at(first + level, upper));
        return block;
      };
      of_prefix_cell(level, second_at_zero, take);
    }
    of_prefix_cell(0, [&](int upper) { return both_zero[upper]; }, take);
  }

  // Any number of members: by way of the scratch buffer.
  template <class Take>
  INTERPLAY_INLINE void of_members(const Take& take) const {
    const interplay::LevelShape& shape = counts.shape;
    const int n_patterns = shape.n_patterns;
    for (int upper = 0; upper < n_upper(); ++upper) {
      typename Simd::Counts* cells = scratch(upper);
      for (int pattern = 0; pattern < n_patterns; ++pattern) put(cells, pattern, at(pattern, upper));
      for (int member = 0, stride = 1; member < shape.n_prefix; ++member) {
        const int outer = stride * shape.levels[member];
        for (int begin = 0; begin < n_patterns; begin += outer) {
          for (int open = begin; open < begin + stride; ++open) {
            Block rest = get(cells, open);
            for (int other = open + stride; other < begin + outer; other += stride) rest.subtract(get(cells, other));
            put(cells, open, rest);
          }
        }
        stride = outer;
      }
    }
    for (int cell = 0; cell < n_patterns; ++cell) {
      of_prefix_cell(cell, [&](int upper) { return get(scratch(upper), cell); }, take);
    }
  }

 private:
  typename Simd::Counts* scratch(int upper) const {
    return reinterpret_cast<typename Simd::Counts*>(counts.scratch + upper * counts.shape.n_patterns * 16);
  }
  INTERPLAY_INLINE static Block get(const typename Simd::Counts* cells, int cell) {
    Block block;
    for (int i = 0; i < Block::kRegisters; ++i) block.of[i] = cells[cell * Block::kRegisters + i];
    return block;
  }
  INTERPLAY_INLINE static void put(typename Simd::Counts* cells, int cell, const Block& block) {
    for (int i = 0; i < Block::kRegisters; ++i) cells[cell * Block::kRegisters + i] = block.of[i];
  }
};

// Members: of the prefix, 1 or 2, or 0 for any number.
template <class Simd, int Levels, int Members, class Take>
INTERPLAY_INLINE void for_paired_cells(const interplay::PairedCounts& counts, int lane, const Take& take) {
  const PairedCells<Simd, Levels> cells{counts, lane};
  if constexpr (Members == 1) {
    cells.of_one_member(take);
  } else if constexpr (Members == 2) {
    cells.of_two_members(take);
  } else {
    cells.of_members(take);
  }
}

// Sum of a score over all cells, for lanes lane … lane + 15.
template <class Simd, int Levels, int Members, class Score>
INTERPLAY_INLINE void score_16_paired_lanes(const interplay::PairedCounts& counts, const TwoClassSums<Simd>& of,
                                            const Score& score, int lane,
                                            typename Simd::Floats (&sums)[PairBlock<Simd>::kRegisters]) {
  for (auto& sum : sums) sum = Simd::set_float(0.0f);
  for_paired_cells<Simd, Levels, Members>(counts, lane, [&](const PairBlock<Simd>& cell) INTERPLAY_INLINE_LAMBDA {
    for (int i = 0; i < PairBlock<Simd>::kRegisters; ++i) {
      sums[i] = score.add_cell(sums[i], of.total(cell.of[i]), of.weighed(cell.of[i]));
    }
  });
}

// What lanes lane … lane + 15 have to reach beyond the least: more where no cell lacks a class.
template <class Simd>
void more_to_reach_paired(const interplay::PairedScoreJob& job, const TwoClassSums<Simd>& of, int lane,
                          typename Simd::Floats (&more)[PairBlock<Simd>::kRegisters]) {
  PairBlock<Simd> least = PairBlock<Simd>::set(interplay::class_counts(1, 1));
  const PairedCells<Simd, 0> cells{job.counts, lane};
  cells.of_members([&](const PairBlock<Simd>& cell) { least.keep_least(cell); });
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
        if (!knows_more) more_to_reach_paired<Simd>(job, of, lane, more);
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
