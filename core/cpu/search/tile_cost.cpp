// The cost of a tile, about: the number of its costly operations, times the measured time of each.
//
// Fitted by non-negative least squares of the relative error to two grids of timings, of 500 to 6000 samples (large
// tables: 500 only): 92 direct tiles, 98 of any levels, and the tiles of two levels; random codes, one thread, AVX-512,
// runs that know the maxima already. Root mean square errors, of these same timings: 9 to 10 % for two-level tiles, 21
// to 22 % for any levels, 26 % for direct.
#include <algorithm>
#include <cmath>

#include "interplay/routing.hpp"
#include "rows/level_data.hpp"
#include "rows/triple_lanes.hpp"

namespace interplay {
namespace {

// Operations of a searcher on a tile, or the nanoseconds of each.
struct TileWork {
  double visits;  // a prefix meets a register of lanes; any levels: times the cells of the prefix, of all classes;
                  // direct: tuples
  double words;   // of a mask of samples, made and looked through
  double rows;    // of bits, one for each sample of a list
  double scored;  // cells of tuples, of all classes; direct: times the members that are left out in turn
};

constexpr TileWork cost_of_work(Searcher searcher, bool two_classes) {
  switch (searcher) {
    case Searcher::triples:
      return {0, 0, 0, 0.61};
    case Searcher::pairs:
      return {0, 29, 0.72, 0.155};
    case Searcher::singles:
      return {180, 0, 0.85, 0.064};
    case Searcher::levels:  // two classes have polynomials to bound with, which are cheaper
      return {44, 2.8, 1.0, two_classes ? 0.08 : 0.23};
    case Searcher::wide:  // like levels: 2D to 4D of 70 000 to 200 000 samples take 0.94 to 1.14 times as long, one 1.5
      return {44, 2.8, 1.0, 0.23};
    case Searcher::sums:
      return {44, 2.8, 1.6, 0.08};
    default:
      return {20, 0.14, 0, 1.33};
  }
}

// Choices of one variable per place of a tile, in ascending order, counted place by place. Blocks are equal, apart, or
// a small one lies in a larger one, where the mean place of the variable before is taken for every such place.
class Choices {
 public:
  Choices(const SearchProblem& problem, const std::int32_t* tile) : problem_(problem), tile_(tile) {}

  // Take the next place's variable; returns the variables for each choice of the places before.
  double next() {
    const double begin = static_cast<double>(problem_.block_begin(tile_, place_));
    const double end = static_cast<double>(problem_.block_end(tile_, place_));
    ++place_;
    const double n = std::max(end - std::max(begin, before_), 0.0);
    // The largest of m variables out of `size` has m / (m + 1) of them before it.
    n_of_block_ = begin == begin_ && end == end_ ? n_of_block_ + 1 : 1;
    before_ = n_of_block_ == 1 ? end - n / 2 + 0.5 : begin + n_of_block_ * (end - begin + 1) / (n_of_block_ + 1);
    begin_ = begin;
    end_ = end;
    in_all_ *= n;
    return n;
  }
  double in_all() const { return in_all_; }

 private:
  const SearchProblem& problem_;
  const std::int32_t* tile_;
  Index place_ = 0;
  double begin_ = -1, end_ = -1, n_of_block_ = 0;
  double before_ = 0;  // places up to the mean one of the last variable taken
  double in_all_ = 1;
};

double in_steps(double n, double step) { return std::ceil(n / step) * step; }

TileWork work_of(const SearchProblem& problem, const std::int32_t* tile, Searcher searcher) {
  const Index k = problem.tiles.dimensions;
  double n_samples = 0, n_words = 0;
  for (const Index size : problem.planes.class_sizes) {
    n_samples += static_cast<double>(size);
    n_words += in_steps(static_cast<double>(size) / 64, static_cast<double>(kWordsPerBlock));
  }
  const double n_classes = static_cast<double>(problem.planes.cell_size());
  const Index n_parts = searcher == Searcher::triples ? 3 : searcher == Searcher::pairs ? 2 : 1;
  const Index n_prefix = searcher == Searcher::direct ? k : k - n_parts;
  const bool is_of_levels = searcher == Searcher::levels || searcher == Searcher::wide || searcher == Searcher::sums;
  // Patterns to be counted: a level from 1 on for each member of the prefix.
  double n_cells = 1, n_patterns = 1, n_prefix_cells = 1;
  Index lane_levels = 2;
  for (Index place = 0; place < k; ++place) {
    lane_levels = problem.block_levels(tile, place);
    n_cells *= static_cast<double>(lane_levels);
    if (place >= n_prefix) continue;
    n_patterns *= static_cast<double>(lane_levels - 1);
    n_prefix_cells *= static_cast<double>(lane_levels);
  }
  Choices choices(problem, tile);
  for (Index place = 0; place < n_prefix; ++place) choices.next();
  const double n_prefixes = choices.in_all();
  if (searcher == Searcher::direct) {
    const double n_counted = n_cells - n_cells / static_cast<double>(lane_levels);
    const double n_scored = n_cells * n_classes * static_cast<double>(k);
    return {n_prefixes, n_prefixes * n_counted * n_words, 0, n_prefixes * n_scored};
  }
  double n_lanes = 1, n_registers;
  for (Index place = n_prefix; place < k; ++place) n_lanes *= choices.next();
  if (n_parts == 1) {
    const double in_register = static_cast<double>(is_of_levels ? LevelData::lane_stride(lane_levels) : kLanes);
    n_registers = std::max(n_lanes / in_register, 1.0);
    // A prefix scores whole steps of lanes; those of the register it stands in itself, from its own place on.
    n_lanes = in_steps(n_lanes, 16);
  } else {
    n_registers = std::max(n_lanes / static_cast<double>(kLanes), static_cast<double>(n_parts - 1));
  }
  const double n_lists = n_prefixes * n_patterns;
  const double per_visit = is_of_levels ? n_prefix_cells * n_classes : 1;
  return {n_prefixes * n_registers * per_visit, n_lists * n_words, n_lists * n_registers * n_samples / n_prefix_cells,
          n_prefixes * n_lanes * n_cells * n_classes};
}

}  // namespace

double Routing::cost_of(const std::int32_t* tile) const {
  const Searcher searcher = searcher_of(tile);
  const TileWork work = work_of(problem_, tile, searcher);
  const TileWork cost = cost_of_work(searcher, problem_.planes.cell_size() == 2);
  const double sum = cost.visits * work.visits + cost.words * work.words + cost.rows * work.rows;
  return std::max(std::round(sum + cost.scored * work.scored), 1.0);
}

}  // namespace interplay
