#include "search/survivor_scorer.hpp"

#include <algorithm>
#include <limits>

namespace interplay {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

SurvivorScorer::SurvivorScorer(const SearchProblem& problem, const InformationTables& tables, int n_parts_,
                               BoundTrial& trial, SurvivorSink& sink, LanesToBeat& job)
    : n_parts(n_parts_),
      n_prefix(static_cast<int>(problem.tiles.dimensions) - n_parts_),
      problem_(problem),
      every_(problem.every_member),
      tables_(tables),
      trial_(trial),
      sink_(sink),
      job_(job),
      offset_of_(problem.planes.class_sizes, problem.pseudocount),
      k_(n_prefix + n_parts),
      cell_size_(problem.planes.cell_size()),
      n_groups_(static_cast<Index>(problem.partner_cells.size())) {
  for (int part = 0; part < n_parts; ++part) {
    job.without_part[part] = without_part[part].data();
    job.best_of_part[part] = best_of_part_[part].data();
  }
  job.survivors = survivors_.data();
  job.every_member = every_ != nullptr;
}

void SurvivorScorer::start_tile(const Levels& levels) {
  if (levels == levels_) return;
  levels_ = levels;
  n_patterns_ = n_layers_ = 1;
  for (int member = 0; member < k_; ++member) (member < n_prefix ? n_patterns_ : n_layers_) *= levels[member];
  const Index n_cells = n_patterns_ * n_layers_;
  for (int member = 0; member < k_; ++member) group_[member] = problem_.group_of(n_cells / levels[member]);
  offset_ = problem_.planes.of_numbers ? 0.0 : offset_of_(n_cells);
  if (every_) {
    std::array<TableMember, kMaxFastDimensions> members{};
    Index inner = 1;
    for (int member = 0; member < k_; inner *= levels[member], ++member) members[member] = {levels[member], inner};
    degrees_of_freedom_.set_up(std::span(members).first(k_), problem_.planes, every_->has_stratum);
    job_.more_if_no_zero = rounded_down(every_->of_df(degrees_of_freedom_.full()) - every_->least());
  }
  transformed_.resize(static_cast<std::size_t>(n_cells));
  cells_.resize(static_cast<std::size_t>(n_cells * cell_size_));
  summed_.resize(cells_.size());
}

void SurvivorScorer::start_lanes(bool contrast, Index n_lanes) {
  contrast_ = contrast;
  for (int part = 0; part < n_parts; ++part) {
    const int member = n_prefix + part;
    const bool may_gain = !contrast || member + 1 == k_;
    for (Index lane = 0; lane < n_lanes; ++lane) {
      best_of_part_[part][lane] = may_gain ? best_so_far(member, lane_members[lane][part]) : kInfinity;
    }
  }
}

void SurvivorScorer::set_member(int member, Index row, const float* without) {
  members_[member] = row;
  job_.without_member[member] = without;
  job_.best_of_member[member] = contrast_ ? kInfinity : best_so_far(member, row);
}

float SurvivorScorer::information_of_prefix() const {
  const Fixed fixed = information(tables_.summed_over(levels_[n_prefix]), cells_.data(), n_patterns_, cell_size_);
  return difference_rounded_down(tables_.to_bits(fixed), offset_);
}

// Offer the gains of the members by the tuple whose cells are gathered.
void SurvivorScorer::offer_members(int first, int lane) {
  const Fixed whole = information(tables_.of_tuple(), cells_.data(), n_patterns_ * n_layers_, cell_size_);
  const double most = tables_.to_bits(whole) - offset_;
  Index inner = 1;
  for (int member = 0; member < k_; inner *= levels_[member], ++member) {
    // Mostly one member made the tuple survive; the others are told by the bounds at hand.
    if (member < first || !may_gain(member, lane, most)) continue;
    const Index row = members_[member];
    sink_.offer(slot(member, row), gain_of(member, inner, whole), members_.data());
    if (member >= n_prefix) best_of_part_[member - n_prefix][lane] = best_so_far(member, row);
  }
}

// List the tuple whose cells are gathered if every member has the gain that the degrees of freedom ask for.
void SurvivorScorer::list_if_every_gains(int lane, double bound) {
  double needed = every_->least();
  if (every_->of_df(degrees_of_freedom_.full()) > needed) {
    needed = every_->of_df(degrees_of_freedom_.fewest(cells_.data()));
    if (!every_may_gain(lane, bound, needed)) return;
  }
  const Fixed whole = information(tables_.of_tuple(), cells_.data(), n_patterns_ * n_layers_, cell_size_);
  if (!every_may_gain(lane, tables_.to_bits(whole) - offset_, needed)) return;
  SmallestGain smallest;
  Index inner = 1;
  for (int member = 0; member < k_; inner *= levels_[member], ++member) {
    if (!every_->asks(member)) continue;
    const double gain = gain_of(member, inner, whole);
    if (gain < needed) return;
    smallest.add(members_[member], gain);
  }
  sink_.list(members_.data(), smallest.row, smallest.gain);
}

double SurvivorScorer::gain_of(int member, Index inner, Fixed whole) {
  const Index n_levels = levels_[member], outer = n_patterns_ * n_layers_ / (inner * n_levels);
  const Fixed without = summed_information(tables_.summed_over(n_levels), cells_.data(), outer, n_levels, inner,
                                           cell_size_, summed_.data());
  return tables_.to_bits(whole - without);
}

}  // namespace interplay
