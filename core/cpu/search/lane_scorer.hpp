// A prefix met with its lanes: bound the information of all tuples, and score exactly what may beat a maximum.
#pragma once

#include <array>

#include "bounds/bound_trial.hpp"
#include "bounds/rounded_down.hpp"
#include "rows/two_level_data.hpp"
#include "search/survivor_sink.hpp"

namespace interplay {

// Counts of "these are 1" → counts of cells, for members `first` … `last` − 1. Subsets and cells are numbered by bits.
void subsets_to_cells(ClassCounts* counts, int first, int last);

class LaneScorer {
 public:
  LaneScorer(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
             const LaneKernels& kernels, int n_parts, BoundTrial& trial, SurvivorSink& sink);

  // The prefixes that follow meet the lanes of lane_members.
  void start_chunk(bool contrast, Index n_lanes);

  // Say which variable a member of the prefix is, and the information without it, per lane.
  void set_member(int member, Index row, const float* without);

  // Score the tuples of a prefix: job has its counts and the lanes to look at, without_part the rest.
  void score();

  // Of the prefix alone, rounded down.
  float information_of_prefix();

  // Lower bounds of the information of sub-tuples.
  InformationKernel information_kernel(int n_parts, int n_members) const;

  const int n_parts;     // variables of a lane
  const int n_families;  // their non-empty subsets
  const int n_prefix;    // variables before the lane
  const int full;        // the subset that is the whole prefix

  LaneScoreJob job{};
  LaneMembers lane_members{};
  std::array<std::array<float, kMaxScoredLanes>, kMaxParts> without_part{};  // information without that part, per lane

 private:
  float best_so_far(Index row) const { return rounded_down(sink_.to_beat(slot(row))); }
  Index slot(Index row) const { return row * static_cast<Index>(problem_.partner_cells.size()) + group_; }
  bool may_gain(int member, int lane, double most) const;
  void score_exactly(int lane, float bound);
  void set_cell(int cell, ClassCounts counts);

  const SearchProblem& problem_;
  const InformationTables& tables_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  BoundTrial& trial_;
  SurvivorSink& sink_;
  Index group_;
  bool contrast_ = false;

  std::array<std::array<float, kMaxScoredLanes>, kMaxParts> best_of_part_{};
  std::array<Survivor, kMaxScoredLanes> survivors_{};
  std::array<Index, kMaxFastDimensions> members_{};  // of the tuple at hand
  std::array<Count, 4 * kMaxSubsets> cells_{}, summed_{};
};

}  // namespace interplay
