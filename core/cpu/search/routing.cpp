#include "interplay/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rows/level_data.hpp"
#include "rows/pair_lanes.hpp"
#include "rows/triple_lanes.hpp"
#include "search/tile_limits.hpp"

namespace interplay {
namespace {

// Pairs pay where they fill the registers this much better: they are counted with longer lists.
constexpr double kPairsMustSave = 1.5;

// Without pseudocounts an empty cell would make the bounds divide by zero.
constexpr double kMinPseudocount = 1e-6;

}  // namespace

const char* name_of(Searcher searcher) {
  constexpr const char* names[] = {"none", "triples", "pairs", "singles", "levels", "wide", "sums", "direct"};
  return names[static_cast<int>(searcher)];
}

Index lanes_of_register() { return kLanes; }

Index triple_block_size() { return kMaxTripleBlock; }

Index max_block_size(Index dimensions) {
  // All places of a tuple but the first and the last are in the tables.
  const Index n_places = std::clamp<Index>(dimensions, 4, kMaxFastDimensions) - 2;
  Index size = 1;
  const auto n_entries = [&](Index of) { return n_places == 2 ? of * of : of * of * of; };
  while (n_entries(2 * size) <= kMaxTableEntries) size *= 2;
  return size;
}

Routing::Routing(const SearchProblem& problem, bool direct_only) : problem_(problem), k_(problem.tiles.dimensions) {
  static_assert(kMaxFastDimensions == 5, "max_block_size knows tables over two or three places");
  const std::span<const Index> sizes = problem.planes.class_sizes;
  if (direct_only || problem.statistic || k_ < 2 || k_ > kMaxFastDimensions) return;
  if (problem.planes.of_numbers) {
    sum_lanes_ = true;
    return;
  }
  if (problem.pseudocount < kMinPseudocount || static_cast<int>(sizes.size()) > kMaxLevelClasses) return;
  const bool is_large = *std::max_element(sizes.begin(), sizes.end()) > kMaxFastClassSize;
  two_level_lanes_ = !is_large && sizes.size() == 2;
  level_lanes_ = !is_large;
  wide_lanes_ = is_large && std::accumulate(sizes.begin(), sizes.end(), Index{0}) <= kMostSamplesOfFloats;
}

Searcher Routing::searcher_of(const std::int32_t* tile) const {
  if (two_level_lanes_ && has_two_levels(tile)) {
    if (takes_triples(tile)) return Searcher::triples;
    const bool takes_singles_too = takes_singles(tile);
    if (takes_pairs(tile) && (!takes_singles_too || pairs_pay(tile))) return Searcher::pairs;
    if (takes_singles_too) return Searcher::singles;
  }
  const bool has_lanes = has_few_cells(tile) && last_prefix_vars_at_a_time(problem_, tile) > 0;
  if (!has_lanes) return Searcher::direct;
  return sum_lanes_ ? Searcher::sums : wide_lanes_ ? Searcher::wide : Searcher::levels;
}

bool Routing::wants_smaller_blocks(const std::int32_t* tile) const {
  return has_few_cells(tile) && searcher_of(tile) == Searcher::direct;
}

bool Routing::has_two_levels(const std::int32_t* tile) const {
  for (Index place = 0; place < k_; ++place) {
    if (problem_.block_levels(tile, place) != 2) return false;
  }
  return true;
}

// Few enough, and of few enough levels, for lanes of any levels; tables that fit are another matter.
bool Routing::has_few_cells(const std::int32_t* tile) const {
  if (!level_lanes_ && !wide_lanes_ && !sum_lanes_) return false;
  Index n_counts = problem_.planes.cell_size();
  for (Index place = 0; place < k_; ++place) {
    const Index n_levels = problem_.block_levels(tile, place);
    n_counts *= n_levels;
    if (n_levels > LevelData::kMaxLevels || n_counts > LevelData::kMaxCells) return false;
  }
  return true;
}

// The last three places are one small block at the end of the order, which has none after it.
bool Routing::takes_triples(const std::int32_t* tile) const {
  if (k_ < 4) return false;
  const Index size = problem_.block_size(tile, k_ - 3), end = problem_.block_end(tile, k_ - 3);
  return size >= kMinTripleBlock && size <= kMaxTripleBlock && end <= kMaxTripleVars &&
         problem_.block_end(tile, k_ - 2) == end && problem_.block_end(tile, k_ - 1) == end;
}

bool Routing::takes_pairs(const std::int32_t* tile) const {
  if (k_ < 3 || !PairLanes::fit(problem_, tile)) return false;
  Index n_entries = 1;
  for (Index place = 0; place < k_ - 2; ++place) n_entries *= problem_.block_size(tile, place);
  return n_entries <= kMaxTableEntries;
}

bool Routing::takes_singles(const std::int32_t* tile) const {
  Index n_entries = 1;
  for (Index place = 1; place < k_ - 1; ++place) n_entries *= problem_.block_size(tile, place);
  return n_entries <= kMaxTableEntries;
}

bool Routing::pairs_pay(const std::int32_t* tile) const {
  const Index first_begin = problem_.block_begin(tile, k_ - 2), first_end = problem_.block_end(tile, k_ - 2);
  const Index lane_begin = problem_.block_begin(tile, k_ - 1), lane_end = problem_.block_end(tile, k_ - 1);
  Index n_pairs = 0;
  for (Index first = first_begin; first < first_end; ++first) n_pairs += lane_end - std::max(lane_begin, first + 1);
  const double n_sets = std::ceil(static_cast<double>(n_pairs) / static_cast<double>(kLanes));
  return n_sets * kPairsMustSave < static_cast<double>(first_end - first_begin);
}

}  // namespace interplay
