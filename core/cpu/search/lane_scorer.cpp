#include "search/lane_scorer.hpp"

#include <algorithm>
#include <limits>

namespace interplay {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

void subsets_to_cells(ClassCounts* counts, int first, int last) {
  for (int member = first; member < last; ++member) {
    for (int s = 0; s < 1 << last; ++s) {
      if (!(s >> member & 1)) counts[s] -= counts[s | 1 << member];
    }
  }
}

LaneScorer::LaneScorer(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                       const LaneKernels& kernels, int n_parts_, BoundTrial& trial, MaxGains& best)
    : n_parts(n_parts_),
      n_families((1 << n_parts_) - 1),
      n_prefix(static_cast<int>(problem.tiles.dimensions) - n_parts_),
      full((1 << n_prefix) - 1),
      problem_(problem),
      tables_(tables),
      data_(data),
      kernels_(kernels),
      trial_(trial),
      best_(best) {
  group_ = problem.group_of(Index{1} << (n_prefix + n_parts - 1));
  for (int part = 0; part < n_parts; ++part) {
    job.without_part[part] = without_part[part].data();
    job.best_of_part[part] = best_of_part_[part].data();
  }
  job.survivors = survivors_.data();
}

void LaneScorer::start_chunk(bool contrast, Index n_lanes) {
  contrast_ = contrast;
  for (int part = 0; part < n_parts; ++part) {
    const bool counts = !contrast || part + 1 == n_parts;
    for (Index lane = 0; lane < n_lanes; ++lane) {
      best_of_part_[part][lane] = counts ? best_so_far(lane_members[lane][part]) : kInfinity;
    }
  }
}

void LaneScorer::set_member(int member, Index row, const float* without) {
  members_[member] = row;
  job.without_member[member] = without;
  job.best_of_member[member] = contrast_ ? kInfinity : best_so_far(row);
}

InformationKernel LaneScorer::information_kernel(int parts, int members) const {
  return kernels_.information_of(data_.model(), trial_.use_polynomial(), parts, members);
}

void LaneScorer::score() {
  trial_.start();
  const ScoreKernel kernel = kernels_.score_of(data_.model(), trial_.use_polynomial(), n_parts, n_prefix);
  const int n_survivors = kernel(data_.model(), job);
  for (int i = 0; i < n_survivors; ++i) score_exactly(survivors_[i].lane, survivors_[i].bound);
  trial_.stop(job.last_lane - job.first_lane);
}

float LaneScorer::information_of_prefix() {
  for (int s = 0; s <= full; ++s) set_cell(s, job.counts.prefix_cells[s]);
  const Fixed fixed = information(tables_.summed_over(2), cells_.data(), full + 1, 2);
  return data_.least_information_of(tables_.to_bits(fixed));
}

void LaneScorer::set_cell(int cell, ClassCounts counts) {
  for (int q = 0; q < 2; ++q) cells_[2 * cell + q] = static_cast<Count>(count_of_class(counts, q));
}

// Whether a member may gain more than it did so far by a tuple that has at most this much information.
bool LaneScorer::may_gain(int member, int lane, double most) const {
  const float* without = member < n_prefix ? job.without_member[member] : job.without_part[member - n_prefix];
  return most - static_cast<double>(without[lane]) >= best_.gain[slot(members_[member])];
}

void LaneScorer::score_exactly(int lane, float bound) {
  const int k = n_prefix + n_parts;
  for (int part = 0; part < n_parts; ++part) members_[n_prefix + part] = lane_members[lane][part];
  // A contrast variable, the last member if there is one, neither helps nor hurts a real one.
  int member = contrast_ ? k - 1 : 0;
  while (member < k && !may_gain(member, lane, static_cast<double>(bound))) ++member;
  if (member == k) return;
  // Cells are numbered like subsets: a bit for each member of the prefix, then for each part.
  const int n_cells = 1 << k;
  std::array<ClassCounts, 4 * kMaxSubsets> counts;
  std::copy_n(job.counts.prefix_cells, full + 1, counts.data());
  for (int family = 0; family < n_families; ++family) {
    ClassCounts* of_family = counts.data() + (family + 1) * (full + 1);
    for (int s = 0; s <= full; ++s) of_family[s] = job.counts.with_lane[family][s][lane];
    subsets_to_cells(of_family, 0, n_prefix);
  }
  subsets_to_cells(counts.data(), n_prefix, k);
  for (int cell = 0; cell < n_cells; ++cell) set_cell(cell, counts[cell]);
  const Fixed whole = information(tables_.of_tuple(), cells_.data(), n_cells, 2);
  const double most = data_.information_of(tables_.to_bits(whole));
  for (; member < k; ++member) {
    // Mostly one member made the tuple survive; the others are told by the bounds at hand.
    if (!may_gain(member, lane, most)) continue;
    const Index inner = Index{1} << member;
    const Fixed without =
        summed_information(tables_.summed_over(2), cells_.data(), n_cells / (2 * inner), 2, inner, 2, summed_.data());
    const Index row = members_[member];
    best_.offer(slot(row), tables_.to_bits(whole - without), problem_.discretization, members_.data());
    if (member >= n_prefix) best_of_part_[member - n_prefix][lane] = best_so_far(row);
  }
}

}  // namespace interplay
