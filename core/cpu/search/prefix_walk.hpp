// Prefix sharing: every prefix of a tile is visited once and met with all its lanes. Counts of sub-tuples that several
// prefixes share are made once.
//
// A tuple is a prefix and a lane (see lane_kernels.hpp). For each prefix, and each pattern of it that leaves no member
// open, the samples with that pattern are listed and their bit rows are added up. The counts of the other patterns come
// from tables of the sub-tuples. A table is filled once per choice of the variables before the first place that its
// subset leaves out. Then the information of all lanes is bounded, and lanes that may beat a maximum are scored
// exactly.
//
// The walk does not know how patterns are counted. `Counting` does: it derives from PrefixWalk<Counting, Job> and has
// these hooks, all of them called without a virtual function. None has a default.
//
// hook                        called                                    must
// --------------------------- ----------------------------------------- ----------------------------------------------
// vars_at_a_time(tile)        first in a tile; begin_, size_ are set    return the variables of the prefix's last
//                                                                       place for which tables have room
// pattern_size(tile)          next; levels_, single lanes are set       return the numbers of a pattern with all lanes
// start_tile(tile)            next; pattern_size_, tables are set       make its own buffers
// next_lanes()                until it returns false                    set rows_, n_lanes_, prefix_end_ and
//                                                                       scorer_.lane_members; say if there are any
// first_lane_after(place)     for each entry, and each prefix           return the first lane whose last members all
//                                                                       come after the place
// count_entry(table, entry,   for each entry of a table; local_ is set  fill table.lanes and table.ones
//   masks, n_masks, place)
// bound_entry(table, entry,   after it, if table.has_information        fill table.information with lower bounds
//   first_lane)
// start_prefixes()            all members but the last are chosen       return how many prefixes are counted at a time
// count_prefixes(begin, end)  for these places of the last member       count these prefixes with all lanes
// select_prefix(i)            for each of them; local_ is set           set whole_lanes_ and whole_ones_
// point(counts, i, n,         for each of the n patterns of a subset    let the i-th pattern have these counts
//   lanes, ones)
// close_prefix(counts, n)     after the last pattern; n: members        turn counts of patterns without a lane into
//                                                                       counts of cells
// score_lanes()               last for each prefix; job_ and the        set the bounds without each part of a lane;
//                             members of scorer_ are set                hand job_ and a kernel to scorer_
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "interplay/bit_planes.hpp"
#include "search/subset_tables.hpp"
#include "search/survivor_scorer.hpp"

namespace interplay {

template <class Counting, class Job>
class PrefixWalk : public TileSearcher {
 public:
  bool search(const std::int32_t* tile) final {
    set_up(tile);
    const int last = n_prefix_ - 1;
    const Index begin = begin_[last], end = problem_.block_end(tile, last), at_a_time = size_[last];
    stopped_ = false;
    while (!stopped_ && counting().next_lanes()) {
      scorer_.start_lanes(contrast_, n_lanes_);
      for (Index first = begin; first < end && !stopped_; first += at_a_time) {
        begin_[last] = first;
        size_[last] = std::min(at_a_time, end - first);
        descend(0);
      }
    }
    progress_.tuples_done.fetch_add(tuples_, std::memory_order_relaxed);
    tuples_ = 0;
    return !stopped_;
  }

 protected:
  using Lane = typename Job::Lane;
  using Counts = decltype(Job::counts);
  using Table = SubsetTable<Lane>;

  // n_ones: how many numbers of samples a pattern has.
  PrefixWalk(const SearchProblem& problem, const InformationTables& tables, const LaneRows& rows_of_lanes,
             const LaneKernels& kernels, int n_parts, Index n_ones, BoundTrial& trial, SurvivorSink& sink,
             SearchProgress& progress)
      : problem_(problem),
        planes_(problem.planes),
        rows_of_lanes_(rows_of_lanes),
        kernels_(kernels),
        trial_(trial),
        scorer_(problem, tables, n_parts, trial, sink, job_),
        n_parts_(n_parts),
        n_prefix_(scorer_.n_prefix),
        full_((1 << n_prefix_) - 1),
        n_ones_(n_ones),
        progress_(progress) {
    masks_[0].resize(planes_.n_words);
    mask_all_samples(planes_, masks_[0].data());
    for (int subset = 0; subset <= full_; ++subset) tables_.emplace_back(subset, n_prefix_);
    subsets_.resize(tables_.size());
    patterns_.resize(tables_.size());
  }

  const Word* plane_at(Index place, Index level) const { return planes_.plane(problem_.blocks.order[place], level); }
  Index levels_at(Index place) const { return problem_.levels_at(place); }
  // The variable that is chosen for a place of the prefix, as a place in the order.
  Index place_of(int member) const { return begin_[member] + local_[member]; }

  // The next lanes, where a lane is one variable: at most `at_most` registers of `in_register` lanes. A register that
  // is not full, the first if any, is taken alone. Returns how many registers there are, one after the other at rows_.
  Index next_single_lanes(Index at_most, Index in_register) {
    if (left_.empty()) return 0;
    const LastMembers& first = left_.front();
    const bool is_full = first.end - first.begin == in_register;
    const Index n_registers = is_full ? std::min(at_most, static_cast<Index>(left_.size())) : 1;
    const Index end = left_[static_cast<std::size_t>(n_registers - 1)].end;
    rows_ = first.rows;
    lane_begin_ = first.begin;
    n_lanes_ = end - first.begin;
    left_ = left_.subspan(static_cast<std::size_t>(n_registers));
    for (Index lane = 0; lane < n_lanes_; ++lane) {
      scorer_.lane_members[lane] = {problem_.blocks.order[lane_begin_ + lane]};
    }
    prefix_end_ = end - 1;
    return n_registers;
  }
  // Registers of single lanes that are still to come.
  Index n_registers_left() const { return static_cast<Index>(left_.size()); }
  Index first_single_lane_after(Index place) const { return std::max<Index>(0, place + 1 - lane_begin_); }

  // Let `counts` be those of a subset of the prefix, as it is chosen now, with all lanes.
  void point_to(int subset, Counts& counts) {
    // Where the patterns begin that leave no member of a subset open.
    std::array<const Lane*, kMaxSubsets> lanes_of;
    std::array<const Count*, kMaxSubsets> ones_of;
    lanes_of[full_] = whole_lanes_;
    ones_of[full_] = whole_ones_;
    for (int closed = 0; closed < full_; ++closed) {
      if (closed & ~subset) continue;
      const SubsetEntries<Lane>& entries = subsets_[closed];
      const Index first = entries.entry(local_) * entries.table->n_patterns;
      lanes_of[closed] = entries.table->lanes.data() + first * pattern_size_;
      ones_of[closed] = entries.table->ones.data() + first * n_ones_;
    }
    const std::vector<Pattern>& patterns = patterns_[subset];
    const Index n = static_cast<Index>(patterns.size());
    for (Index i = 0; i < n; ++i) {
      const auto [closed, number] = patterns[i];
      counting().point(counts, i, n, lanes_of[closed] + number * pattern_size_, ones_of[closed] + number * n_ones_);
    }
    counting().close_prefix(counts, std::popcount(static_cast<unsigned>(subset)));
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const LaneRows& rows_of_lanes_;
  const LaneKernels& kernels_;
  BoundTrial& trial_;
  Job job_{};
  SurvivorScorer scorer_;
  const int n_parts_, n_prefix_;
  const int full_;  // the subset that is the whole prefix
  const Index n_ones_;

  // The tile and its lanes at hand.
  SurvivorScorer::Levels levels_{};  // of all members
  Index pattern_size_ = 0;           // numbers of a pattern in tables and whole_lanes_
  Places begin_{}, size_{};          // the block of each place of the prefix
  Places local_{};                   // chosen variables, as places in their blocks
  const Word* rows_ = nullptr;       // of the lanes
  Index n_lanes_ = 0;
  Index prefix_end_ = 0;  // variables of the prefix come before this place, else no lane is left
  const Lane* whole_lanes_ = nullptr;
  const Count* whole_ones_ = nullptr;

  std::vector<Table> tables_;                          // [subset]; the whole prefix has no entries
  std::vector<SubsetEntries<Lane>> subsets_;           // [subset]
  std::array<AlignedBuffer<Word>, kMaxPrefix> masks_;  // [depth]: samples of each pattern of the places before
  std::array<Index, kMaxPrefix> n_masks_{};

 private:
  Counting& counting() { return static_cast<Counting&>(*this); }

  void set_up(const std::int32_t* tile) {
    SurvivorScorer::Levels levels{};
    for (int m = 0; m < n_prefix_ + n_parts_; ++m) levels[m] = levels_at(problem_.block_begin(tile, m));
    for (int m = 0; m < n_prefix_; ++m) {
      begin_[m] = problem_.block_begin(tile, m);
      size_[m] = problem_.block_size(tile, m);
    }
    size_[n_prefix_ - 1] = counting().vars_at_a_time(tile);
    const Index last = problem_.block_begin(tile, n_prefix_ + n_parts_ - 1);
    contrast_ = problem_.blocks.order[last] >= planes_.n_vars;
    if (levels != levels_) set_levels(levels);
    left_ = rows_of_lanes_.last_members(tile[n_prefix_ + n_parts_ - 1]);
    pattern_size_ = counting().pattern_size(tile);
    make_tables(size_[n_prefix_ - 1] == problem_.block_size(tile, n_prefix_ - 1));
    counting().start_tile(tile);
  }

  void set_levels(const SurvivorScorer::Levels& levels) {
    levels_ = levels;
    scorer_.start_tile(levels);
    for (int subset = 0; subset <= full_; ++subset) patterns_[subset] = patterns_of(subset, n_prefix_, levels_);
    Index n = 1;
    for (int m = 0; m < n_prefix_; ++m) {
      n_masks_[m] = n;
      if (m > 0) masks_[m].resize(n * planes_.n_words);
      n *= levels[m] - 1;
      inner_masks_[m].resize(n * planes_.n_words);
    }
  }

  // last_is_whole: the variables of the last place are taken all at once. A part of its block, though it may begin and
  // end like the block before it, is another block when the next part is taken.
  void make_tables(bool last_is_whole) {
    Places block{}, n_levels{};
    for (int m = 0; m < n_prefix_; ++m) {
      n_levels[m] = levels_[m];
      const bool may_share = m > 0 && (m + 1 < n_prefix_ || last_is_whole);
      block[m] = may_share && begin_[m] == begin_[m - 1] && size_[m] == size_[m - 1] ? block[m - 1] : m;
    }
    for (Table& table : tables_) {
      const bool is_whole = table.subset == full_;
      table.make_room(size_, n_levels, is_whole ? 0 : pattern_size_, is_whole ? 0 : n_ones_);
    }
    for (auto& tables : filled_at_) tables.clear();
    for (int subset = 0; subset <= full_; ++subset) {
      subsets_[subset] = find_subset(subset, n_prefix_, block, tables_);
    }
    // Smaller subsets first: the information of a larger one needs their counts.
    for (int n_members = 0; n_members < n_prefix_; ++n_members) {
      for (Table& table : tables_) {
        const bool is_own = subsets_[table.subset].table == &table;
        if (is_own && std::popcount(static_cast<unsigned>(table.subset)) == n_members) {
          filled_at_[table.n_leading].push_back(&table);
        }
      }
    }
  }

  // Where the variables of a place may be, after that of another place (−1 if there is none).
  std::array<Index, 2> range_of(int place, int before) const {
    const Index begin = before < 0 ? begin_[place] : std::max(begin_[place], place_of(before) + 1);
    return {begin, std::min(begin_[place] + size_[place], prefix_end_)};
  }

  // Each mask with each level from 1 on of the variable at `place`.
  void extend_masks(const Word* masks, Index n, Index place, Index n_levels, Word* target) const {
    const Index n_words = planes_.n_words;
    for (Index level = 1; level < n_levels; ++level) {
      const Word *mask = masks, *plane = plane_at(place, level);
      for (Index i = 0; i < n; ++i, mask += n_words, target += n_words) {
        for (Index w = 0; w < n_words; ++w) target[w] = mask[w] & plane[w];
      }
    }
  }

  // Places 0 … depth − 1 are chosen.
  void descend(int depth) {
    for (Table* table : filled_at_[depth]) fill(*table, 0, masks_[depth].data(), n_masks_[depth]);
    const auto [begin, end] = range_of(depth, depth - 1);
    if (depth + 1 == n_prefix_) {
      if (begin < end) meet_lanes(begin, end);
      return;
    }
    for (Index place = begin; place < end && !stopped_; ++place) {
      local_[depth] = place - begin_[depth];
      extend_masks(masks_[depth].data(), n_masks_[depth], place, levels_[depth], masks_[depth + 1].data());
      descend(depth + 1);
    }
  }

  // Fill the entries of a table: choose the variables of its inner places, from the i-th on.
  void fill(Table& table, int i, const Word* masks, Index n) {
    if (table.n_inner == 0) {
      fill_entry(table, masks, n, -1);
      return;
    }
    const int place = table.inner[i];
    const auto [begin, end] = range_of(place, i == 0 ? table.n_leading - 1 : table.inner[i - 1]);
    for (Index at = begin; at < end; ++at) {
      local_[place] = at - begin_[place];
      if (i + 1 == table.n_inner) {
        fill_entry(table, masks, n, at);
      } else {
        Word* target = inner_masks_[place].data();
        extend_masks(masks, n, at, levels_[place], target);
        fill(table, i + 1, target, n * (levels_[place] - 1));
      }
    }
  }

  // `place`: of the last inner variable, which is not in the masks yet; −1 if there is none.
  void fill_entry(Table& table, const Word* masks, Index n, Index place) {
    const Index entry = subsets_[table.subset].entry(local_);
    counting().count_entry(table, entry, masks, n, place);
    if (!table.has_information) return;
    // Lanes come after the last member.
    const int last = table.last_place();
    const Index first_lane = last < 0 ? 0 : std::min(counting().first_lane_after(place_of(last)), n_lanes_);
    counting().bound_entry(table, entry, static_cast<int>(first_lane));
  }

  // All of the prefix but its last member is chosen, which is at one of these places.
  void meet_lanes(Index begin, Index end) {
    const int last = n_prefix_ - 1;
    const Index together = counting().start_prefixes();
    for (Index first = begin; first < end; first += together) {
      const Index after = std::min(first + together, end);
      counting().count_prefixes(first, after);
      for (Index place = first; place < after && !stopped_; ++place) {
        local_[last] = place - begin_[last];
        counting().select_prefix(place - first);
        score_prefix();
      }
      if (stopped_) return;
    }
  }

  // The whole prefix is chosen, and counted with each lane: bound, score.
  void score_prefix() {
    job_.first_lane = static_cast<int>(counting().first_lane_after(place_of(n_prefix_ - 1)));
    job_.last_lane = static_cast<int>(n_lanes_);
    point_to(full_, job_.counts);
    for (int member = 0; member < n_prefix_; ++member) {
      const SubsetEntries<Lane>& without = subsets_[full_ & ~(1 << member)];
      scorer_.set_member(member, problem_.blocks.order[place_of(member)],
                         without.table->information.data() + without.entry(local_) * kLanes);
    }
    counting().score_lanes();
    tuples_ += static_cast<std::uint64_t>(job_.last_lane - job_.first_lane);
    stopped_ = progress_.stop.load(std::memory_order_relaxed);
  }

  SearchProgress& progress_;
  std::vector<std::vector<Pattern>> patterns_;               // [subset]
  std::array<std::vector<Table*>, kMaxPrefix> filled_at_;    // [depth]: tables to fill when `depth` places are chosen
  std::array<AlignedBuffer<Word>, kMaxPrefix> inner_masks_;  // [place]: like masks_, with a gap, up to this place
  std::span<const LastMembers> left_;                        // single lanes: to come
  Index lane_begin_ = 0;                                     // single lanes: place of the first in the order
  bool contrast_ = false;
  bool stopped_ = false;
  std::uint64_t tuples_ = 0;
};

}  // namespace interplay
