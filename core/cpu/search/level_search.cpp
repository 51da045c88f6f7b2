// Tiles of variables with any number of levels, any number of classes, the way table_search.cpp does it: for each
// prefix and each choice of a level from 1 on for its members (a "pattern"), list the samples that have it and add up
// their bit rows; level 0 of every member follows by subtraction. Then bound the information of all lanes, and score
// exactly what may beat a maximum.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "bounds/bound_trial.hpp"
#include "bounds/rounded_down.hpp"
#include "interplay/bit_planes.hpp"
#include "rows/level_data.hpp"
#include "rows/list_class.hpp"
#include "rows/restricted_rows.hpp"
#include "search/level_tables.hpp"

namespace interplay {
namespace {

// A thread's tables over the blocks of a tile: more than this many counts in one (16 MB), and the variables of the last
// place of the prefix are taken a few at a time.
constexpr Index kMaxTableCounts = Index{1} << 23;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Where the counts of a pattern are: in the table of a subset of the prefix; the whole prefix has none.
struct PatternSource {
  int subset;
  Index pattern;  // among those of the subset
};

class LevelSearcher final : public TileSearcher {
 public:
  LevelSearcher(const SearchProblem& problem, const InformationTables& tables, const LevelData& data,
                const LaneKernels& kernels, MaxGains& best, SearchProgress& progress)
      : problem_(problem),
        planes_(problem.planes),
        tables_(tables),
        data_(data),
        kernels_(kernels),
        best_(best),
        progress_(progress),
        k_(static_cast<int>(problem.tiles.dimensions)),
        n_prefix_(k_ - 1),
        full_((1 << n_prefix_) - 1),
        n_classes_(planes_.n_classes()),
        trial_(n_classes_ == 2 ? &data.model().two_classes : nullptr, progress) {
    shape_.n_prefix = n_prefix_;
    masks_[0].resize(planes_.n_words);
    mask_all_samples(planes_, masks_[0].data());
    lists_.resize(static_cast<std::size_t>(n_classes_));
    for (Index q = 0; q < n_classes_; ++q) {
      const Index n_words = planes_.class_word_start[q + 1] - planes_.class_word_start[q];
      lists_[q].resize(n_words * 64 + kListMultiple);
    }
    // Smaller subsets first: the information of a larger one needs their counts.
    for (int size = 0; size < n_prefix_; ++size) {
      for (int subset = 0; subset < full_; ++subset) {
        if (std::popcount(static_cast<unsigned>(subset)) == size) filling_order_.push_back(subset);
      }
    }
    for (int subset = 0; subset < full_; ++subset) subsets_.emplace_back(subset, n_prefix_);
    sources_.resize(static_cast<std::size_t>(full_ + 1));
  }

  bool takes(const std::int32_t* tile) const override { return middle_size(tile) > 0; }

  bool search(const std::int32_t* tile) override {
    set_up(tile);
    const VariableBlocks& blocks = problem_.blocks;
    const Index lane_block = tile[k_ - 1];
    const Index middle_begin = begin_[n_prefix_ - 1], middle_end = middle_begin + size_[n_prefix_ - 1];
    const Index n_at_a_time = middle_size(tile);
    contrast_ = blocks.order[blocks.lane_start[lane_block]] >= planes_.n_vars;
    stopped_ = false;
    for (const LevelChunk& chunk : data_.chunks(lane_block)) {
      lane_begin_ = chunk.begin;
      n_lanes_ = chunk.end - chunk.begin;
      rows_ = data_.rows(chunk);
      for (Index lane = 0; lane < n_lanes_; ++lane) {
        best_of_lane_[lane] = best_so_far(blocks.order[lane_begin_ + lane], n_prefix_);
      }
      for (Index first = middle_begin; first < middle_end && !stopped_; first += n_at_a_time) {
        begin_[n_prefix_ - 1] = first;
        size_[n_prefix_ - 1] = std::min(n_at_a_time, middle_end - first);
        descend(0);
      }
    }
    progress_.tuples_done.fetch_add(tuples_, std::memory_order_relaxed);
    tuples_ = 0;
    return !stopped_;
  }

 private:
  Index levels_at(Index place) const { return planes_.n_levels[problem_.blocks.order[place]]; }

  // Variables of the prefix's last place to take at a time, so that the tables fit; 0 if they cannot.
  Index middle_size(const std::int32_t* tile) const {
    Index n_counts = n_classes_ * kLanes, size = 1;
    for (int m = 0; m < n_prefix_; ++m) {
      size = problem_.block_size(tile, m);
      n_counts *= levels_at(problem_.block_begin(tile, m)) - 1;
      if (m > 0 && m + 1 < n_prefix_) n_counts *= size;
    }
    return std::min(size, kMaxTableCounts / n_counts);
  }

  void set_up(const std::int32_t* tile) {
    Index n_cells = 1;
    for (int m = 0; m < k_; ++m) {
      levels_[m] = levels_at(problem_.block_begin(tile, m));
      n_cells *= levels_[m];
      if (m == n_prefix_) break;
      begin_[m] = problem_.block_begin(tile, m);
      size_[m] = problem_.block_size(tile, m);
      shape_.levels[m] = static_cast<int>(levels_[m]);
    }
    n_cells_ = n_cells;
    for (int m = 0; m < k_; ++m) group_[m] = problem_.group_of(n_cells / levels_[m]);
    shape_.n_patterns = static_cast<int>(n_cells / levels_[n_prefix_]);
    shape_.lane_levels = static_cast<int>(levels_[n_prefix_]);
    shape_.lane_stride = static_cast<int>(LevelData::lane_stride(levels_[n_prefix_]));
    Places size = size_;
    size[n_prefix_ - 1] = middle_size(tile);
    for (LevelTable& table : subsets_) table.make_room(size, shape_, n_classes_);
    Index n_masks = 1;
    for (int m = 0; m < n_prefix_; ++m) {
      if (m > 0) masks_[m].resize(n_masks * planes_.n_words);
      n_masks *= levels_[m] - 1;
      inner_masks_[m].resize(n_masks * planes_.n_words);
    }
    fresh_.resize(n_masks * n_classes_ * kLanes);
    fresh_ones_.resize(static_cast<std::size_t>(n_masks * n_classes_));
    for (int subset = 0; subset <= full_; ++subset) list_sources(subset);
    const std::size_t n_pointers = static_cast<std::size_t>(n_classes_ * shape_.n_patterns);
    with_lane_.resize(n_pointers);
    prefix_cells_.resize(n_pointers);
    job_.counts.shape = shape_;
    for (const bool polynomial : {false, true}) {
      scores_[polynomial] = kernels_.levels.score_of(shape_, static_cast<int>(n_classes_), polynomial);
    }
    scratch_.resize(n_cells_ * n_classes_ * 16);
    job_.counts.scratch = scratch_.data();
    cells_.resize(static_cast<std::size_t>(n_cells_ * n_classes_));
    summed_.resize(cells_.size());
  }

  // Patterns of the members of a subset, each open (0) or at a level from 1 on: the last member varies fastest.
  void list_sources(int subset) {
    std::vector<PatternSource>& sources = sources_[subset];
    sources.assign(1, {0, 0});
    for (int place = 0; place < n_prefix_; ++place) {
      if (!(subset >> place & 1)) continue;
      std::vector<PatternSource> longer;
      for (const PatternSource& source : sources) {
        longer.push_back(source);
        for (Index level = 1; level < levels_[place]; ++level) {
          longer.push_back({source.subset | 1 << place, source.pattern * (levels_[place] - 1) + level - 1});
        }
      }
      sources = std::move(longer);
    }
  }

  Index slot(Index row, int member) const {
    return row * static_cast<Index>(problem_.partner_cells.size()) + group_[member];
  }
  float best_so_far(Index row, int member) const { return rounded_down(best_.gain[slot(row, member)]); }

  // Places 0 … depth − 1 are chosen.
  void descend(int depth) {
    for (const int subset : filling_order_) {
      if (subsets_[subset].n_leading == depth) fill(subsets_[subset], 0, masks_[depth].data(), n_masks(depth));
    }
    const Index after = depth == 0 ? begin_[0] : begin_[depth - 1] + local_[depth - 1] + 1;
    if (depth > 0 && depth + 1 == n_prefix_ && after < end_of(depth)) restrict_to_masks();
    for (Index place = std::max(begin_[depth], after); place < end_of(depth) && !stopped_; ++place) {
      local_[depth] = place - begin_[depth];
      if (depth + 1 == n_prefix_) {
        meet_lanes(place);
      } else {
        extend_masks(masks_[depth].data(), n_masks(depth), place, masks_[depth + 1].data());
        descend(depth + 1);
      }
    }
  }

  // Variables of the prefix come before the last lane, else no lane is left.
  Index end_of(int place) const { return std::min(begin_[place] + size_[place], lane_begin_ + n_lanes_ - 1); }

  Index n_masks(int depth) const {
    Index n = 1;
    for (int m = 0; m < depth; ++m) n *= levels_[m] - 1;
    return n;
  }

  // Each mask with each level from 1 on of the variable at `place`.
  void extend_masks(const Word* masks, Index n, Index place, Word* target) const {
    const Index row = problem_.blocks.order[place], n_words = planes_.n_words;
    for (Index i = 0; i < n; ++i, masks += n_words) {
      for (Index level = 1; level < planes_.n_levels[row]; ++level, target += n_words) {
        const Word* plane = planes_.plane(row, level);
        for (Index w = 0; w < n_words; ++w) target[w] = masks[w] & plane[w];
      }
    }
  }

  // Fill the entries of a table: choose the variables of its inner places, from the i-th on.
  void fill(LevelTable& table, int i, const Word* masks, Index n) {
    if (table.n_inner == 0) {
      fill_entry(table, masks, n, -1);
      return;
    }
    const int place = table.inner[i];
    // Only variables in ascending order ever meet.
    const int before = i == 0 ? table.n_leading - 1 : table.inner[i - 1];
    const Index after = before < 0 ? begin_[place] : begin_[before] + local_[before] + 1;
    for (Index at = std::max(begin_[place], after); at < end_of(place); ++at) {
      local_[place] = at - begin_[place];
      if (i + 1 == table.n_inner) {
        fill_entry(table, masks, n, at);
      } else {
        Word* target = inner_masks_[place].data();
        extend_masks(masks, n, at, target);
        fill(table, i + 1, target, n * (levels_[place] - 1));
      }
    }
  }

  void fill_entry(LevelTable& table, const Word* masks, Index n, Index place) {
    const Index entry = table.entry(local_), first = entry * table.n_patterns * n_classes_;
    count_patterns(masks, n, place, table.lanes.data() + first * kLanes, table.ones.data() + first);
    if (!table.has_information) return;
    LevelCounts counts = job_.counts;
    counts.shape.n_prefix = 0;
    for (int m = 0; m < n_prefix_; ++m) {
      if (m != table.missing) counts.shape.levels[counts.shape.n_prefix++] = shape_.levels[m];
    }
    counts.shape.n_patterns = shape_.n_patterns / shape_.levels[table.missing];
    point_to(table.subset, counts);
    // Lanes come after the last member.
    const int last = table.missing + 1 == n_prefix_ ? n_prefix_ - 2 : n_prefix_ - 1;
    const int first_lane = last < 0 ? 0 : first_lane_after(begin_[last] + local_[last]);
    kernels_.levels.information(data_.model(), counts, static_cast<float>(levels_[table.missing]), first_lane,
                                static_cast<int>(n_lanes_), table.information.data() + entry * kLanes);
  }

  // List the samples of each mask with each level from 1 on of the variable at `place` (of the mask alone if there is
  // none), and count those in which each bit of a row is 1.
  void count_patterns(const Word* masks, Index n, Index place, LaneCount* counts, std::int32_t* ones) {
    const Index row = place < 0 ? -1 : problem_.blocks.order[place];
    const Index n_levels = place < 0 ? 2 : planes_.n_levels[row];
    for (Index i = 0; i < n; ++i, masks += planes_.n_words) {
      for (Index level = 1; level < n_levels; ++level) {
        const Word* plane = place < 0 ? masks : planes_.plane(row, level);
        for (Index q = 0; q < n_classes_; ++q, counts += kLanes) {
          LaneCount* list = lists_[q].data();
          *ones = list_class(kernels_, planes_, q, masks, plane, list);
          const Word* rows = rows_ + data_.layout().class_start[q];
          kernels_.count_lanes(rows, list, padded(*ones++), counts);
        }
      }
    }
  }

  // All of the prefix but its last member is chosen.
  void restrict_to_masks() {
    const Index n = n_masks(n_prefix_ - 1);
    restricted_.clear();
    restricted_rows_.resize(restricted_words(planes_.n_words * 64, n * n_classes_));
    Word* target = restricted_rows_.data();
    for (Index i = 0; i < n; ++i) {
      const Word* mask = masks_[n_prefix_ - 1].data() + i * planes_.n_words;
      for (Index q = 0; q < n_classes_; ++q) {
        const Index n_words = (planes_.class_sizes[q] + 63) / 64;
        restricted_.push_back(restrict_rows(kernels_, mask + planes_.class_word_start[q], n_words,
                                            rows_ + data_.layout().class_start[q], lists_[q].data(), target));
      }
    }
  }

  // What count_patterns does for the last member of the prefix, with these rows.
  void count_restricted(Index place, LaneCount* counts, std::int32_t* ones) {
    const Index row = problem_.blocks.order[place];
    const Word* mask = masks_[n_prefix_ - 1].data();
    for (std::size_t first = 0; first < restricted_.size(); first += n_classes_, mask += planes_.n_words) {
      for (Index level = 1; level < planes_.n_levels[row]; ++level) {
        for (Index q = 0; q < n_classes_; ++q, counts += kLanes) {
          const RestrictedRows& restricted = restricted_[first + q];
          const Index start = planes_.class_word_start[q], n_words = (planes_.class_sizes[q] + 63) / 64;
          LaneCount* list = lists_[q].data();
          const Index n = kernels_.list_within(planes_.plane(row, level) + start, mask + start, n_words,
                                               restricted.n_bytes, restricted.n_samples, list);
          *ones++ = static_cast<std::int32_t>(n);
          kernels_.count_lanes(restricted.rows, list, padded(n), counts);
        }
      }
    }
  }

  // Let `counts` be those of a subset of the prefix with all lanes.
  void point_to(int subset, LevelCounts& counts) {
    std::array<Index, 1 << kMaxPrefix> entries{};
    for (int s = 0; s < full_; ++s) entries[s] = (subset & s) == s ? subsets_[s].entry(local_) : 0;
    const std::vector<PatternSource>& sources = sources_[subset];
    const Index n_patterns = static_cast<Index>(sources.size());
    for (Index pattern = 0; pattern < n_patterns; ++pattern) {
      const PatternSource& source = sources[pattern];
      const LaneCount* lanes = fresh_.data() + source.pattern * n_classes_ * kLanes;
      const std::int32_t* ones = fresh_ones_.data() + source.pattern * n_classes_;
      if (source.subset != full_) {
        const LevelTable& table = subsets_[source.subset];
        const Index first = (entries[source.subset] * table.n_patterns + source.pattern) * n_classes_;
        lanes = table.lanes.data() + first * kLanes;
        ones = table.ones.data() + first;
      }
      for (Index q = 0; q < n_classes_; ++q) {
        with_lane_[q * n_patterns + pattern] = lanes + q * kLanes;
        prefix_cells_[q * n_patterns + pattern] = ones[q];
      }
    }
    for (Index q = 0; q < n_classes_; ++q) patterns_to_cells(counts.shape, prefix_cells_.data() + q * n_patterns);
    counts.with_lane = with_lane_.data();
    counts.prefix_cells = prefix_cells_.data();
  }

  // Counts of patterns → counts of cells: what has no level from 1 on has level 0.
  static void patterns_to_cells(const LevelShape& shape, std::int32_t* counts) {
    int stride = shape.n_patterns;
    for (int member = 0; member < shape.n_prefix; ++member) {
      const int outer = stride;
      stride /= shape.levels[member];
      for (int first = 0; first < shape.n_patterns; first += outer) {
        for (int at = first; at < first + stride; ++at) {
          for (int other = at + stride; other < first + outer; other += stride) counts[at] -= counts[other];
        }
      }
    }
  }

  // The first lane whose variable comes after `place`.
  int first_lane_after(Index place) const { return static_cast<int>(std::max<Index>(0, place + 1 - lane_begin_)); }

  // The whole prefix is chosen: count, bound, score.
  void meet_lanes(Index place) {
    LevelScoreJob& job = job_;
    job.first_lane = first_lane_after(place);
    job.last_lane = static_cast<int>(n_lanes_);
    if (n_prefix_ == 1) {
      count_patterns(masks_[0].data(), 1, place, fresh_.data(), fresh_ones_.data());
    } else {
      count_restricted(place, fresh_.data(), fresh_ones_.data());
    }
    point_to(full_, job.counts);
    for (int member = 0; member < n_prefix_; ++member) {
      members_[member] = problem_.blocks.order[begin_[member] + local_[member]];
      const LevelTable& without = subsets_[full_ & ~(1 << member)];
      job.without_member[member] = without.information.data() + without.entry(local_) * kLanes;
      job.best_of_member[member] = contrast_ ? kInfinity : best_so_far(members_[member], member);
    }
    job.without_lane = information_of_prefix();
    job.best_of_lane = best_of_lane_.data();
    job.survivors = survivors_.data();
    trial_.start();
    const int n_survivors = scores_[trial_.use_polynomial()](data_.model(), job);
    for (int i = 0; i < n_survivors; ++i) score_exactly(survivors_[i].lane, survivors_[i].bound);
    trial_.stop(job.last_lane - job.first_lane);
    tuples_ += static_cast<std::uint64_t>(job.last_lane - job.first_lane);
    stopped_ = progress_.stop.load(std::memory_order_relaxed);
  }

  float information_of_prefix() {
    for (Index cell = 0; cell < shape_.n_patterns; ++cell) {
      for (Index q = 0; q < n_classes_; ++q) {
        cells_[cell * n_classes_ + q] = static_cast<Count>(prefix_cells_[q * shape_.n_patterns + cell]);
      }
    }
    const CellInformation& of_cell = tables_.summed_over(levels_[n_prefix_]);
    const Fixed fixed = information(of_cell, cells_.data(), shape_.n_patterns, n_classes_);
    return data_.least_information_of(tables_.to_bits(fixed), n_cells_);
  }

  // Whether a member may gain more than it did so far by a tuple that has at most this much information.
  bool may_gain(int member, int lane, double most) const {
    const float without = member < n_prefix_ ? job_.without_member[member][lane] : job_.without_lane;
    return most - static_cast<double>(without) >= best_.gain[slot(members_[member], member)];
  }

  void score_exactly(int lane, float bound) {
    members_[n_prefix_] = problem_.blocks.order[lane_begin_ + lane];
    // A contrast variable, the last member if there is one, neither helps nor hurts a real one.
    const int first_member = contrast_ ? n_prefix_ : 0;
    int member = first_member;
    while (member < k_ && !may_gain(member, lane, static_cast<double>(bound))) ++member;
    if (member == k_) return;
    const Index n_patterns = shape_.n_patterns, lane_levels = shape_.lane_levels;
    lane_cells_.resize(static_cast<std::size_t>(n_patterns));
    for (Index q = 0; q < n_classes_; ++q) {
      const auto at = [&](Index cell, Index level) -> Count& {
        return cells_[(cell * lane_levels + level) * n_classes_ + q];
      };
      for (Index cell = 0; cell < n_patterns; ++cell) {
        at(cell, 0) = static_cast<Count>(prefix_cells_[q * n_patterns + cell]);
      }
      for (Index level = 1; level < lane_levels; ++level) {
        for (Index pattern = 0; pattern < n_patterns; ++pattern) {
          lane_cells_[pattern] = with_lane_[q * n_patterns + pattern][(level - 1) * shape_.lane_stride + lane];
        }
        patterns_to_cells(shape_, lane_cells_.data());
        for (Index cell = 0; cell < n_patterns; ++cell) {
          at(cell, level) = static_cast<Count>(lane_cells_[cell]);
          at(cell, 0) -= at(cell, level);
        }
      }
    }
    const Fixed whole = information(tables_.of_tuple(), cells_.data(), n_cells_, n_classes_);
    const double most = data_.information_of(tables_.to_bits(whole), n_cells_);
    Index outer = 1;
    for (member = 0; member < k_; outer *= levels_[member], ++member) {
      // Mostly one member made the tuple survive; the others are told by the bounds at hand.
      if (member < first_member || !may_gain(member, lane, most)) continue;
      const Index row = members_[member];
      const Index n_levels = levels_[member], inner = n_cells_ / (outer * n_levels);
      const Fixed without = summed_information(tables_.summed_over(n_levels), cells_.data(), outer, n_levels, inner,
                                               n_classes_, summed_.data());
      best_.offer(slot(row, member), tables_.to_bits(whole - without), problem_.discretization, members_.data());
      if (member == n_prefix_) best_of_lane_[lane] = best_so_far(row, member);
    }
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const InformationTables& tables_;
  const LevelData& data_;
  const LaneKernels& kernels_;
  MaxGains& best_;
  SearchProgress& progress_;
  const int k_;
  const int n_prefix_;  // members before the lane
  const int full_;      // the subset that is the whole prefix
  const Index n_classes_;
  BoundTrial trial_;

  // The tile and chunk at hand.
  std::array<Index, kMaxFastDimensions> levels_{}, group_{};
  LevelShape shape_{};
  LevelScoreKernel scores_[2]{};  // [polynomial]
  Index n_cells_ = 0;
  Places begin_{}, size_{};
  Places local_{};  // chosen variables, as places in their blocks
  Index lane_begin_ = 0, n_lanes_ = 0;
  const Word* rows_ = nullptr;
  bool contrast_ = false;
  bool stopped_ = false;
  std::uint64_t tuples_ = 0;

  std::vector<LevelTable> subsets_;
  std::vector<int> filling_order_;
  std::vector<std::vector<PatternSource>> sources_;          // [subset]: its patterns, some members open
  std::array<AlignedBuffer<Word>, kMaxPrefix> masks_;        // [depth]: samples of each pattern of the places before
  std::array<AlignedBuffer<Word>, kMaxPrefix> inner_masks_;  // the same with a gap, up to this place
  std::vector<AlignedBuffer<LaneCount>> lists_;              // [class]
  std::vector<RestrictedRows> restricted_;                   // [mask][class]
  AlignedBuffer<Word> restricted_rows_;
  AlignedBuffer<LaneCount> fresh_;  // counts of the whole prefix: patterns * classes * kLanes
  std::vector<std::int32_t> fresh_ones_;
  std::vector<const LaneCount*> with_lane_;
  std::vector<std::int32_t> prefix_cells_;
  AlignedBuffer<LaneCount> scratch_;
  std::array<float, kLanes> best_of_lane_{};
  std::array<Survivor, kLanes> survivors_{};
  LevelScoreJob job_{};
  std::array<Index, kMaxFastDimensions> members_{};
  std::vector<Count> cells_, summed_;
  std::vector<std::int32_t> lane_cells_;
};

}  // namespace

std::unique_ptr<TileSearcher> make_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                  const LevelData& data, SimdLevel level, MaxGains& best,
                                                  SearchProgress& progress) {
  return std::make_unique<LevelSearcher>(problem, tables, data, lane_kernels(level), best, progress);
}

}  // namespace interplay
