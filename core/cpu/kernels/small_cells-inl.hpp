// Bounds for two classes where most cells have a few samples: their information is looked up in tables of 16 bytes
// (SmallCellTables), 16 lanes at a time and without floats. Included by lane_kernels-inl.hpp.
//
// Bottleneck: making the cells with members at level 0. A cell of the prefix whose lanes have a cell of 16 samples or
// more is bounded by the same scores as elsewhere. Overflow: an entry is at most 255, so three for each of 17 levels
// stay within 16 bits; a float adds up the entries of 4096 cells exactly. Rounding: the terms that are not in the
// tables are added up in doubles, some 14 bits a cell. Rounded to a float, once before and once after the entries,
// their sum is off by less than 0.004 bits in 2048 cells. The slack of the model (0.01 at least) covers this.
#pragma once

#include "kernels/lane_scores-inl.hpp"
#include "kernels/paired_cells-inl.hpp"
#include "kernels/paired_kernels-inl.hpp"

namespace {

// Where a cell of the prefix has more samples than this per level of the lane, one of many cells has 16 or more.
inline constexpr int kMostPerLevel = 7;

template <class Simd, bool SameClasses, class Score>
struct SmallCellScore {
  using Counts = typename Simd::Counts;
  using Floats = typename Simd::Floats;
  static constexpr int kMostPrefixCells = interplay::kMaxLaneLevels * interplay::kMaxLaneLevels;

  const interplay::PairedScoreJob& job;
  const interplay::PairedCounts& counts;
  const int n_levels;  // of the lane
  const Score score;
  const TwoClassSums<Simd> of;
  const typename Simd::Table of_class_0, of_class_1, of_total;
  const Floats factor, unit;
  const float slack;
  // Of the cells of the prefix: whether they are likely to have small cells alone, and the terms that are not in the
  // tables.
  bool is_small[kMostPrefixCells];
  double left_out[kMostPrefixCells];

  SmallCellScore(const interplay::LevelModel& model, const interplay::PairedScoreJob& job_)
      : job(job_),
        counts(job_.counts),
        n_levels(counts.shape.lane_levels),
        score(model.two_classes, 1.0f),
        of(model.two_classes),
        of_class_0(Simd::load_table(model.small_cells.of_class[0])),
        of_class_1(Simd::load_table(model.small_cells.of_class[1])),
        of_total(Simd::load_table(model.small_cells.of_total)),
        factor(Simd::set_float(Score::factor(model.two_classes))),
        unit(Simd::set_float(model.small_cells.unit)),
        slack(model.slack) {
    const interplay::SmallCellTables& tables = model.small_cells;
    for (int cell = 0; cell < counts.shape.n_patterns; ++cell) {
      // In place: a function that is not inlined could be linked into code for other instruction sets.
      const auto both = counts.prefix_cells[cell];
      const int n_0 = static_cast<int>(both & 0xffff), n_1 = static_cast<int>(both >> 16);
      is_small[cell] = n_0 + n_1 <= kMostPerLevel * n_levels;
      left_out[cell] = tables.of_sample[0] * n_0 + tables.of_sample[1] * n_1 + tables.of_cell * n_levels;
    }
  }

  // Add the entries of a cell to `sum`, and its samples to the bits seen so far.
  INTERPLAY_INLINE void add_small(Counts& sum, Counts& seen, const Counts& pairs) const {
    // Above its lower byte a total is 0, and so is entry 0.
    const Counts total = Simd::sum_of_bytes(pairs);
    seen = Simd::or_counts(seen, total);
    const Counts of_classes =
        SameClasses ? Simd::look_up(of_class_0, pairs) : Simd::look_up(of_class_0, of_class_1, pairs);
    sum = Simd::add_counts(sum, Simd::add_counts(Simd::sum_of_bytes(of_classes), Simd::look_up(of_total, total)));
  }

  // The same for the cells of any size of all levels of the lane: called from four places, and seldom.
  template <int Registers>
  INTERPLAY_NO_INLINE void add_large(const Counts* cells, Floats (&sums)[2 * Registers]) const {
    for (int level = 0; level < n_levels; ++level) {
      for (int i = 0; i < Registers; ++i, ++cells) {
        const Counts low = Simd::low_byte_pairs(*cells), high = Simd::high_byte_pairs(*cells);
        sums[2 * i] = score.add_cell(sums[2 * i], of.total(low), of.weighed(low));
        sums[2 * i + 1] = score.add_cell(sums[2 * i + 1], of.total(high), of.weighed(high));
      }
    }
  }

  // Of 16 · Registers lanes, from `lane` on; returns how many survivors there are now.
  template <int Registers>
  INTERPLAY_INLINE int list_survivors_of(int lane, int n_survivors) const {
    using Block = ByteBlock<Simd, Registers>;
    Floats entries[Registers][2], of_large[2 * Registers];
    for (int i = 0; i < Registers; ++i) {
      entries[i][0] = entries[i][1] = of_large[2 * i] = of_large[2 * i + 1] = Simd::set_float(0.0f);
    }
    double rest = static_cast<double>(slack);
    // Other lanes, among them members of the prefix, have any counts.
    alignas(32) interplay::LaneCount is_wanted[16 * Registers];
    for (int i = 0; i < 16 * Registers; ++i) {
      is_wanted[i] = lane + i >= job.first_lane && lane + i < job.last_lane ? 0xffff : 0;
    }
    const PairedCells<Block, 0, true> cells{counts, lane};
    cells.of_two_members([&](int cell, const auto& counts_of) INTERPLAY_INLINE_LAMBDA {
      Counts of_levels[interplay::kMaxLaneLevels * Registers];
      int n = 0;
      if (is_small[cell]) {
        Counts sum[Registers], seen[Registers];
        for (int i = 0; i < Registers; ++i) sum[i] = seen[i] = Simd::set_counts(0);
        cells.take_levels(cell, counts_of, [&](const Block& block) INTERPLAY_INLINE_LAMBDA {
          put_block(of_levels, n++, block);
          for (int i = 0; i < Registers; ++i) add_small(sum[i], seen[i], block.of[i]);
        });
        Counts most = Simd::set_counts(0);
        for (int i = 0; i < Registers; ++i) {
          const Counts wanted = Simd::load_counts(is_wanted + 16 * i);
          most = Simd::or_counts(most, Simd::and_counts(seen[i], wanted));
        }
        if (Simd::are_below_16(most)) {
          for (int i = 0; i < Registers; ++i) {
            entries[i][0] = Simd::add(entries[i][0], Simd::low_floats(sum[i]));
            entries[i][1] = Simd::add(entries[i][1], Simd::high_floats(sum[i]));
          }
          rest += left_out[cell];
          return;
        }
      } else {
        cells.take_levels(cell, counts_of, [&](const Block& block) { put_block(of_levels, n++, block); });
      }
      add_large<Registers>(of_levels, of_large);
    });
    const Floats left = Simd::set_float(static_cast<float>(rest));
    for (int i = 0; i < Registers; ++i) {
      Simd::put_in_order(entries[i]);
      Floats more[2];
      bool knows_more = false;
      for (int half = 0; half < 2; ++half) {
        const int first = lane + 16 * i + 8 * half;
        const Floats without = Simd::multiply_add(of_large[2 * i + half], factor, left);
        const Floats bound = Simd::multiply_add(entries[i][half], unit, without);
        Floats to_beat = least_to_beat<Simd>(1, 2, first, job);
        if (job.more_if_no_zero > 0 && Simd::at_least(bound, to_beat)) {
          if (!knows_more) more_to_reach_paired<Simd, true>(job, of, lane + 16 * i, more);
          knows_more = true;
          to_beat = Simd::add(to_beat, more[half]);
        }
        n_survivors = list_survivors<Simd>(bound, to_beat, first, job, n_survivors);
      }
    }
    return n_survivors;
  }
};

template <class Simd, bool SameClasses, class Score>
int score_small_cells(const interplay::LevelModel& model, const interplay::PairedScoreJob& job) {
  const SmallCellScore<Simd, SameClasses, Score> score(model, job);
  int n_survivors = 0, lane = job.first_lane & ~15;
  for (; lane + 16 < job.last_lane; lane += 32) n_survivors = score.template list_survivors_of<2>(lane, n_survivors);
  if (lane < job.last_lane) n_survivors = score.template list_survivors_of<1>(lane, n_survivors);
  return n_survivors;
}

template <class Simd, bool SameClasses>
constexpr void set_small_cell_kernels_of(interplay::PairedKernels& kernels) {
  kernels.score_small_polynomial[SameClasses] = score_small_cells<Simd, SameClasses, PolynomialScore<Simd, true>>;
  kernels.score_small_even[SameClasses] = score_small_cells<Simd, SameClasses, PolynomialScore<Simd, true, true>>;
  kernels.score_small_rational[SameClasses] = score_small_cells<Simd, SameClasses, RationalScore<Simd, true>>;
}

template <class Simd>
constexpr void set_small_cell_kernels(interplay::PairedKernels& kernels) {
  set_small_cell_kernels_of<Simd, false>(kernels);
  set_small_cell_kernels_of<Simd, true>(kernels);
}

}  // namespace
