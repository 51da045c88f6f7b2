// Any tile: count every cell of every tuple on the bit planes, and score it from tables.
#include <algorithm>
#include <limits>
#include <optional>

#include "interplay/bit_planes.hpp"
#include "interplay/tile_searcher.hpp"
#include "kernels/tuple_counts.hpp"
#include "rows/byte_scores.hpp"
#include "search/degrees_of_freedom.hpp"
#include "search/survivor_sink.hpp"

namespace interplay {
namespace {

// Entries of a tile's table of sub-tuple informations (8 MB); a tile with more does without.
constexpr Index kMaxSubInformations = Index{1} << 20;
// Counts of a batch of last variables (16 MB): as many as fit are counted at a time.
constexpr Index kMaxPlaneCounts = Index{1} << 22;

constexpr Fixed kUnknown = std::numeric_limits<Fixed>::min();

// Searches one tile after another, with buffers of its own. One per thread.
class DirectSearcher final : public TileSearcher {
 public:
  DirectSearcher(const SearchProblem& problem, const InformationTables& tables, SimdLevel level, SurvivorSink& sink,
                 SearchProgress& progress)
      : problem_(problem),
        planes_(problem.planes),
        tables_(tables),
        count_(count_kernel(level)),
        sum_(sum_kernel(level)),
        sink_(sink),
        progress_(progress),
        k_(problem.tiles.dimensions),
        cell_size_(planes_.cell_size()),
        positions_(static_cast<std::size_t>(k_)),
        members_(static_cast<std::size_t>(k_)),
        chosen_(static_cast<std::size_t>(k_)),
        prefixes_(static_cast<std::size_t>(k_)) {
    if (problem.statistic) {
      const Index most_levels = *std::max_element(planes_.n_levels.begin(), planes_.n_levels.end());
      statistic_.emplace(*problem.statistic, planes_.class_sizes, problem.pseudocount,
                         most_levels * problem.partner_cells.back());
    }
    prefixes_[0].resize(static_cast<std::size_t>(planes_.n_words));
    mask_all_samples(planes_, prefixes_[0].data());
    ones_ = prefixes_[0].data();
    if (planes_.of_numbers) scores_.emplace(planes_);
  }

  // Returns whether the whole tile was searched.
  bool search(const std::int32_t* tile) override {
    set_up(tile);
    descend(0);
    progress_.tuples_done.fetch_add(tuples_, std::memory_order_relaxed);
    tuples_ = 0;
    return !stopped_;
  }

 private:
  // One place in the tuple: the block its variable comes from.
  struct Position {
    Index begin, end;  // into blocks.order
    Index n_levels;
    Index group;  // of this variable's gains
    Index outer;  // cells of the places before it
    Index inner;  // cells of the places after it
    const CellInformation* summed_over;
    // Information of the tuple without this variable, by the places of the others in their blocks: needed by as many
    // tuples as this block has variables, computed by the first of them. Empty if it would be too large.
    std::vector<Fixed> sub_information;
    std::vector<Index> stride;  // of each place in sub_information; 0 for this one
  };

  void set_up(const std::int32_t* tile) {
    stopped_ = false;
    n_cells_ = 1;
    for (Index m = 0; m < k_; ++m) {
      Position& position = positions_[m];
      position.begin = problem_.block_begin(tile, m);
      position.end = problem_.block_end(tile, m);
      position.n_levels = problem_.levels_at(position.begin);
      position.outer = n_cells_;
      position.summed_over = &tables_.summed_over(position.n_levels);
      n_cells_ *= position.n_levels;
    }
    for (Position& position : positions_) {
      position.inner = n_cells_ / (position.outer * position.n_levels);
      position.group = problem_.group_of(n_cells_ / position.n_levels);
    }
    const Position& last = positions_.back();
    n_prefix_ = last.outer;
    if (statistic_) {
      std::vector<Index> n_levels;
      for (const Position& position : positions_) n_levels.push_back(position.n_levels);
      statistic_->set_up(n_levels);
    } else {
      for (Index m = 0; m + 1 < k_; ++m) set_up_sub_informations(m);
    }
    if (const EveryMember* rule = problem_.every_member) {
      std::vector<TableMember> members;
      for (const Position& position : positions_) members.push_back({position.n_levels, position.inner});
      degrees_of_freedom_.set_up(members, planes_, rule->has_stratum);
    }
    contrast_ = problem_.blocks.order[last.begin] >= planes_.n_vars;
    const Index per_variable = (last.n_levels - 1) * n_prefix_ * cell_size_;
    batch_ = std::clamp<Index>(kMaxPlaneCounts / per_variable, 1, last.end - last.begin);
    last_planes_.resize(static_cast<std::size_t>(batch_ * (last.n_levels - 1)));
    plane_counts_.resize(static_cast<std::size_t>(batch_ * per_variable));
    prefix_counts_.resize(static_cast<std::size_t>(n_prefix_ * cell_size_));
    counts_.resize(static_cast<std::size_t>(n_cells_ * cell_size_));
    summed_.resize(counts_.size());
    for (Index m = 1; m < k_; ++m) {
      prefixes_[m].resize(static_cast<std::size_t>(positions_[m].outer * planes_.n_words));
    }
  }

  void set_up_sub_informations(Index m) {
    Position& at = positions_[m];
    at.stride.assign(static_cast<std::size_t>(k_), 0);
    Index size = 1;
    for (Index other = k_ - 1; other >= 0; --other) {
      if (other == m) continue;
      at.stride[other] = size;
      size *= positions_[other].end - positions_[other].begin;
      if (size > kMaxSubInformations) break;
    }
    at.sub_information.clear();
    if (size <= kMaxSubInformations) at.sub_information.assign(static_cast<std::size_t>(size), kUnknown);
  }

  // Fix the variable of place m, for all its choices; at the last place, count and score.
  void descend(Index m) {
    const Position& position = positions_[m];
    const Index begin = m == 0 ? position.begin : std::max(position.begin, chosen_[m - 1] + 1);
    if (begin >= position.end) return;
    if (m == k_ - 1) {
      meet_last(begin);
      return;
    }
    for (Index i = begin; i < position.end && !stopped_; ++i) {
      chosen_[m] = i;
      members_[m] = problem_.blocks.order[i];
      extend_prefix(m);
      descend(m + 1);
    }
  }

  // Cells of places 0…m from those of 0…m−1: AND with each level of the variable at m.
  void extend_prefix(Index m) {
    const Index n_words = planes_.n_words;
    const Index n_levels = positions_[m].n_levels;
    const Word* parent = prefixes_[m].data();
    Word* child = prefixes_[m + 1].data();
    for (Index cell = 0; cell < positions_[m].outer; ++cell, parent += n_words) {
      Word* rest = child;  // level 0: samples of no other level
      std::copy(parent, parent + n_words, rest);
      child += n_words;
      for (Index level = 1; level < n_levels; ++level, child += n_words) {
        const Word* plane = planes_.plane(members_[m], level);
        for (Index w = 0; w < n_words; ++w) {
          child[w] = parent[w] & plane[w];
          rest[w] &= ~plane[w];
        }
      }
    }
  }

  // Count and score the fixed prefix with every variable of the last block from `begin` on.
  void meet_last(Index begin) {
    const Position& last = positions_[k_ - 1];
    count_prefix(&ones_, 1, prefix_counts_.data());
    prefix_information_ = information(*last.summed_over, prefix_counts_.data(), n_prefix_, cell_size_);
    for (Index first = begin; first < last.end && !stopped_; first += batch_) {
      meet_batch(first, std::min(first + batch_, last.end));
      stopped_ = progress_.stop.load(std::memory_order_relaxed);
    }
  }

  // The cells of the prefix met with planes: n_planes * n_prefix_ cells.
  void count_prefix(const Word* const* planes, Index n_planes, Count* cells) {
    if (!scores_) {
      count_({prefixes_[k_ - 1].data(), n_prefix_, planes, n_planes, planes_.class_word_start.data(), cell_size_,
              planes_.n_words, cells});
      return;
    }
    scratch_.resize(sum_scratch_words(n_prefix_, planes_.n_words));
    SumJob job{prefixes_[k_ - 1].data(),
               n_prefix_,
               planes,
               n_planes,
               {},
               planes_.n_words,
               0,
               cells,
               cells + 1,
               2 * n_prefix_,
               2,
               scratch_.data()};
    scores_->set(job);
    sum_(job);
  }

  void meet_batch(Index begin, Index end) {
    const Index per_variable = positions_[k_ - 1].n_levels - 1;
    Index n_planes = 0;
    for (Index i = begin; i < end; ++i) {
      for (Index level = 1; level <= per_variable; ++level) {
        last_planes_[n_planes++] = planes_.plane(problem_.blocks.order[i], level);
      }
    }
    count_prefix(last_planes_.data(), n_planes, plane_counts_.data());
    for (Index i = begin; i < end; ++i) {
      chosen_[k_ - 1] = i;
      members_[k_ - 1] = problem_.blocks.order[i];
      gather_cells(plane_counts_.data() + (i - begin) * per_variable * n_prefix_ * cell_size_);
      score();
    }
    tuples_ += static_cast<std::uint64_t>(end - begin);
  }

  // The counts of all cells, the last variable's levels side by side; level 0 by subtraction.
  void gather_cells(const Count* of_planes) {
    const Index n_levels = positions_[k_ - 1].n_levels;
    const Index per_plane = n_prefix_ * cell_size_;
    for (Index r = 0; r < n_prefix_; ++r) {
      for (Index q = 0; q < cell_size_; ++q) {
        const Index source = r * cell_size_ + q;
        Count* cell = counts_.data() + r * n_levels * cell_size_ + q;
        Count rest = prefix_counts_[source];
        for (Index level = 1; level < n_levels; ++level) {
          const Count n = of_planes[(level - 1) * per_plane + source];
          cell[level * cell_size_] = n;
          rest -= n;
        }
        *cell = rest;
      }
    }
  }

  void score() {
    if (problem_.every_member) {
      list_if_every_gains(*problem_.every_member);
      return;
    }
    if (statistic_) {
      const double value = (*statistic_)(counts_.data());
      for (Index m = 0; m < k_; ++m) offer(m, value);
      return;
    }
    const Fixed whole = information(tables_.of_tuple(), counts_.data(), n_cells_, cell_size_);
    if (!contrast_) {  // a contrast variable neither helps nor hurts a real one
      for (Index m = 0; m + 1 < k_; ++m) offer(m, tables_.to_bits(whole - information_without(m)));
    }
    offer(k_ - 1, tables_.to_bits(whole - information_without(k_ - 1)));
  }

  void list_if_every_gains(const EveryMember& rule) {
    const Fixed whole = information(tables_.of_tuple(), counts_.data(), n_cells_, cell_size_);
    SmallestGain smallest;
    for (Index m = k_ - 1; m >= 0; --m) {
      if (!rule.asks(m)) continue;
      const double gain = tables_.to_bits(whole - information_without(m));
      if (gain < rule.least()) return;
      smallest.add(members_[m], gain);
    }
    const bool may_need_more = smallest.gain < rule.of_df(degrees_of_freedom_.full());
    if (may_need_more && smallest.gain < rule.of_df(degrees_of_freedom_.fewest(counts_.data()))) return;
    sink_.list(members_.data(), smallest.row, smallest.gain);
  }

  // The last member's is known of the prefix.
  Fixed information_without(Index m) {
    if (m + 1 == k_) return prefix_information_;
    Position& at = positions_[m];
    if (at.sub_information.empty()) return sum_over(at);
    Index entry = 0;
    for (Index other = 0; other < k_; ++other) {
      entry += (chosen_[other] - positions_[other].begin) * at.stride[other];
    }
    Fixed& known = at.sub_information[entry];
    if (known == kUnknown) known = sum_over(at);
    return known;
  }

  Fixed sum_over(const Position& at) {
    return summed_information(*at.summed_over, counts_.data(), at.outer, at.n_levels, at.inner, cell_size_,
                              summed_.data());
  }

  void offer(Index m, double value) {
    const Index n_groups = static_cast<Index>(problem_.partner_cells.size());
    sink_.offer(members_[m] * n_groups + positions_[m].group, value, members_.data());
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const InformationTables& tables_;
  CountKernel count_;
  SumKernel sum_;
  SurvivorSink& sink_;
  SearchProgress& progress_;
  const Index k_;
  const Index cell_size_;             // numbers of a cell
  std::optional<ByteScores> scores_;  // of a number outcome
  AlignedBuffer<Word> scratch_;

  std::vector<Position> positions_;
  std::vector<Index> members_;               // row numbers of the tuple at hand
  std::vector<Index> chosen_;                // the same as places in blocks.order
  std::vector<std::vector<Word>> prefixes_;  // [m]: cells of places 0…m−1
  const Word* ones_ = nullptr;
  Index n_cells_ = 0;
  Index n_prefix_ = 0;
  Index batch_ = 0;  // last variables counted at a time
  bool contrast_ = false;
  bool stopped_ = false;
  std::uint64_t tuples_ = 0;

  std::vector<const Word*> last_planes_;
  std::vector<Count> plane_counts_;   // last_planes * n_prefix * cell_size
  std::vector<Count> prefix_counts_;  // n_prefix * cell_size
  std::vector<Count> counts_;         // n_cells * cell_size
  std::vector<Count> summed_;         // scratch
  Fixed prefix_information_ = 0;
  DegreesOfFreedom degrees_of_freedom_;  // if every member must gain
  std::optional<TupleStatistic> statistic_;
};

}  // namespace

std::unique_ptr<TileSearcher> make_direct_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                   SimdLevel level, SurvivorSink& sink, SearchProgress& progress) {
  return std::make_unique<DirectSearcher>(problem, tables, level, sink, progress);
}

}  // namespace interplay
