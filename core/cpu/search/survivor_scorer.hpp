// The tuples of a prefix with its lanes: bound the information of all of them, score the survivors exactly, and offer
// the gains of their members to the sink. Any levels, classes and parts of a lane.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "information/lane_model.hpp"
#include "rows/lane_rows.hpp"
#include "search/bound_trial.hpp"
#include "search/degrees_of_freedom.hpp"
#include "search/patterns.hpp"
#include "search/rounded_down.hpp"
#include "search/survivor_sink.hpp"

namespace interplay {

// How the scorer reads the two forms of counts. A layer holds the patterns of the prefix with one pattern of the
// lane's parts; layer 0, all parts open, is the prefix alone. Classes that are packed into one number are transformed
// together.
struct TwoLevelReader {
  const LaneCounts& counts;
  static constexpr Index n_transforms = 1;
  static constexpr TwoLevels levels_of() { return {}; }
  const Count* prefix_cells(Index, Index) const { return counts.prefix_cells; }
  Count at(Index, Index layer, Index pattern, int lane) const { return counts.with_lane[layer - 1][pattern][lane]; }
  static void set_cell(Index, Count packed, Count* of_classes) {
    for (int q = 0; q < 2; ++q) of_classes[q] = static_cast<Count>(count_of_class(packed, q));
  }
};

// Counts: LevelCounts, PairedCounts or WideCounts
template <class Counts>
struct LevelReader {
  const Counts& counts;
  const Index n_transforms;  // one per class, or one for both
  auto levels_of() const {
    const LevelShape& shape = counts.shape;
    return [&shape](int member) { return member < shape.n_prefix ? shape.levels[member] : shape.lane_levels; };
  }
  const Count* prefix_cells(Index t, Index n_patterns) const { return counts.prefix_cells + t * n_patterns; }
  Count at(Index t, Index layer, Index pattern, int lane) const {
    if constexpr (std::is_same_v<Counts, PairedCounts>) {
      const Index n = counts.shape.levels[0];
      if (counts.whole && pattern > n && pattern % n != 0) {
        const Index number = (pattern / n - 1) * (n - 1) + pattern % n - 1;
        const Index run = number * (counts.shape.lane_levels - 1) + layer - 1;
        const BytePair pair = counts.whole[run * counts.shape.lane_stride + lane];
        return class_counts(pair & 0xff, pair >> 8);
      }
    }
    const auto* lanes = counts.with_lane[t * counts.shape.n_patterns + pattern];
    return static_cast<Count>(lanes[(layer - 1) * counts.shape.lane_stride + lane]);
  }
  static void set_cell(Index t, Count count, Count* of_classes) {
    if constexpr (std::is_same_v<Counts, PairedCounts>) {
      TwoLevelReader::set_cell(t, count, of_classes);
    } else {
      of_classes[t] = count;
    }
  }
};
template <class Counts>
LevelReader(const Counts&, Index) -> LevelReader<Counts>;

class SurvivorScorer {
 public:
  // job: where the kernels read the thresholds
  SurvivorScorer(const SearchProblem& problem, const InformationTables& tables, int n_parts, BoundTrial& trial,
                 SurvivorSink& sink, LanesToBeat& job);

  using Levels = std::array<Index, kMaxFastDimensions>;
  // The tuples that follow have members of these numbers of levels.
  void start_tile(const Levels& levels);
  // The prefixes that follow meet the lanes of lane_members, whose last members are contrast variables or not.
  void start_lanes(bool contrast, Index n_lanes);
  // Say which variable a member of the prefix is, and the information without it, per lane.
  void set_member(int member, Index row, const float* without);

  // The lanes have one part, without which the prefix is left.
  template <class Form>
  void set_without_part(const Form& form) {
    gather_cells(form, 0, 1);
    std::fill_n(without_part[0].data(), job_.last_lane, information_of_prefix());
  }

  // Bound the tuples of the lanes of the job, and score the survivors.
  template <class Kernel, class Model, class Job, class Form>
  void score(Kernel kernel, const Model& model, const Job& job, const Form& form) {
    trial_.start();
    const int n_survivors = kernel(model, job);
    for (int i = 0; i < n_survivors; ++i) {
      const auto [lane, bound] = survivors_[i];
      set_parts(lane);
      if (every_) {
        if (!every_may_gain(lane, static_cast<double>(bound), every_->least())) continue;
        gather_cells(form, lane, n_layers_);
        list_if_every_gains(lane, static_cast<double>(bound));
        continue;
      }
      const int member = first_that_may_gain(lane, static_cast<double>(bound));
      if (member == k_) continue;
      gather_cells(form, lane, n_layers_);
      offer_members(member, lane);
    }
    trial_.stop(job.last_lane - job.first_lane);
  }

  const int n_parts;   // last members of a lane
  const int n_prefix;  // members before them
  LaneMembers lane_members{};
  std::array<std::array<float, kMaxScoredLanes>, kMaxParts> without_part{};  // information without that part, per lane

 private:
  // Counts of the cells of the prefix with a lane, from those of the first layers.
  template <class Form>
  void gather_cells(const Form& form, int lane, Index n_layers) {
    const Index n_cells = n_layers * n_patterns_;
    const auto levels_of = form.levels_of();
    for (Index t = 0; t < form.n_transforms; ++t) {
      std::copy_n(form.prefix_cells(t, n_patterns_), n_patterns_, transformed_.data());
      for (Index layer = 1; layer < n_layers; ++layer) {
        Count* of_layer = transformed_.data() + layer * n_patterns_;
        for (Index pattern = 0; pattern < n_patterns_; ++pattern) of_layer[pattern] = form.at(t, layer, pattern, lane);
        patterns_to_cells(of_layer, 0, n_prefix, levels_of);
      }
      if (n_layers > 1) patterns_to_cells(transformed_.data(), n_prefix, k_, levels_of);
      for (Index cell = 0; cell < n_cells; ++cell) {
        form.set_cell(t, transformed_[cell], cells_.data() + cell * cell_size_);
      }
    }
  }

  // The best gain of a row so far as this member of a tuple, and its slot.
  Index slot(int member, Index row) const { return row * n_groups_ + group_[member]; }
  float best_so_far(int member, Index row) const {
    return rounded_down(every_ ? every_->least_of(member) : sink_.to_beat(slot(member, row)));
  }
  // Whether a member may gain so much by a tuple that has at most this much information.
  bool may_gain(int member, int lane, double most, double gain) const {
    const float* without = member < n_prefix ? job_.without_member[member] : job_.without_part[member - n_prefix];
    return most - static_cast<double>(without[lane]) >= gain;
  }
  // Whether it may gain more than it did so far.
  bool may_gain(int member, int lane, double most) const {
    return may_gain(member, lane, most, sink_.to_beat(slot(member, members_[member])));
  }
  bool every_may_gain(int lane, double most, double gain) const {
    for (int member = 0; member < k_; ++member) {
      if (every_->asks(member) && !may_gain(member, lane, most, gain)) return false;
    }
    return true;
  }
  void set_parts(int lane) {
    for (int part = 0; part < n_parts; ++part) members_[n_prefix + part] = lane_members[lane][part];
  }
  int first_that_may_gain(int lane, double most) const {
    // A contrast variable, the last member if there is one, neither helps nor hurts a real one.
    int member = contrast_ ? k_ - 1 : 0;
    while (member < k_ && !may_gain(member, lane, most)) ++member;
    return member;
  }
  float information_of_prefix() const;
  void offer_members(int first, int lane);
  void list_if_every_gains(int lane, double bound);
  // The gain of a member by the tuple whose cells are gathered and whose information is given.
  double gain_of(int member, Index inner, Fixed whole);

  const SearchProblem& problem_;
  const EveryMember* const every_;  // the rule, if that is the rule
  const InformationTables& tables_;
  BoundTrial& trial_;
  SurvivorSink& sink_;
  LanesToBeat& job_;
  const InformationOffset offset_of_;
  const int k_;
  const Index cell_size_, n_groups_;

  Levels levels_{}, group_{};            // by member
  DegreesOfFreedom degrees_of_freedom_;  // if every member must gain
  Index n_patterns_ = 0, n_layers_ = 0;
  double offset_ = 0;
  bool contrast_ = false;

  std::array<std::array<float, kMaxScoredLanes>, kMaxParts> best_of_part_{};
  std::array<Survivor, kMaxScoredLanes> survivors_{};
  std::array<Index, kMaxFastDimensions> members_{};  // of the tuple at hand, by row
  std::vector<Count> transformed_, cells_, summed_;
};

}  // namespace interplay
