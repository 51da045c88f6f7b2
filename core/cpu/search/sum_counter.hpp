// Masks of samples → counts and sums of scores of each level from 1 on of the lanes, of a number outcome: for
// LevelSearcher, in the place of LevelCounter.
//
// Weighted popcounts of planes need no lists and no bit rows: a sum over listed rows would need the score of each of
// them, where the samples of a byte share one. Bottleneck: the popcounts.
#pragma once

#include <algorithm>
#include <vector>

#include "rows/byte_scores.hpp"
#include "rows/level_data.hpp"
#include "search/level_forms.hpp"

namespace interplay {

class SumCounter {
 public:
  using Lane = SumForm::Job::Lane;

  // As those of LevelCounter.
  struct Places {
    const Word* masks;
    Index n_masks, begin, end, n_levels;
    Index first_lane;  // to count: earlier ones come before the variables

    Index n_lists() const { return (end - begin) * (n_levels - 1); }
  };

  SumCounter(const SearchProblem& problem, const LevelData&, const LaneKernels& kernels)
      : problem_(problem), planes_(problem.planes), sum_(kernels.sums.sum_planes), scores_(planes_) {}

  Index kept_words(Index) const { return 1; }
  void start_tile(const LaneRuns& runs, Index pattern_size, bool) {
    runs_ = runs;
    pattern_size_ = pattern_size;
  }
  void set_lanes(const Word*, Index) {}
  // The lanes that follow are these variables.
  void set_members(const LaneMembers& members, Index n_lanes) {
    members_ = &members;
    n_lanes_ = n_lanes;
  }
  void set_masks(const Word*, Index) {}

  void count(const Places& places, Lane* counts, Count* ones) {
    const Index n_words = planes_.n_words, n_masks = places.n_lists() * places.n_masks;
    make_masks(places, n_masks);
    scratch_.resize(sum_scratch_words(n_masks, n_words));
    SumJob job{masks_.data(), n_masks, &all_, 1, {}, n_words, 0, ones, ones + 1, 0, 2, scratch_.data()};
    scores_.set(job);
    sum_(job);
    const Index first = std::min(places.first_lane / 16 * 16, n_lanes_);
    lane_planes_.resize(static_cast<std::size_t>(n_lanes_ - first));
    job.planes = lane_planes_.data();
    job.n_planes = n_lanes_ - first;
    job.plane_stride = 1;
    job.prefix_stride = pattern_size_;
    for (int run = 0; run < runs_.n_runs; ++run) {
      for (Index lane = first; lane < n_lanes_; ++lane) {
        lane_planes_[static_cast<std::size_t>(lane - first)] = planes_.plane((*members_)[lane][0], run + 1);
      }
      // The bits of sums, which are signed.
      job.counts = reinterpret_cast<Count*>(counts) + run * runs_.stride + first;
      job.sums = job.counts + pattern_size_ / 2;
      sum_(job);
    }
  }
  void count_restricted(const Places& places, Lane* counts, Count* ones) { count(places, counts, ones); }

 private:
  // Each mask with each level from 1 on of the variables, by variable, level and mask, the latter fastest.
  void make_masks(const Places& places, Index n_masks) {
    const Index n_words = planes_.n_words;
    masks_.resize(n_masks * n_words);
    if (places.begin < 0) {
      std::copy_n(places.masks, n_masks * n_words, masks_.data());
      return;
    }
    Word* target = masks_.data();
    for (Index place = places.begin; place < places.end; ++place) {
      for (Index level = 1; level < places.n_levels; ++level) {
        const Word *plane = planes_.plane(problem_.blocks.order[place], level), *mask = places.masks;
        for (Index i = 0; i < places.n_masks; ++i, mask += n_words, target += n_words) {
          for (Index w = 0; w < n_words; ++w) target[w] = mask[w] & plane[w];
        }
      }
    }
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const SumKernel sum_;
  const ByteScores scores_;
  const Word* const all_ = planes_.samples.data();

  // The tile and its lanes at hand.
  LaneRuns runs_{};
  Index pattern_size_ = 0;
  const LaneMembers* members_ = nullptr;
  Index n_lanes_ = 0;

  AlignedBuffer<Word> masks_, scratch_;
  std::vector<const Word*> lane_planes_;
};

}  // namespace interplay
