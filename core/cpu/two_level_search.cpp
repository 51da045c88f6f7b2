// Two-level, two-class tiles: for each prefix, list the samples in which all of it is 1, add up their bit rows, bound
// the information of all lanes, and score exactly what may beat a maximum.
//
// The counts of the other sub-tuples come from tables over the tile's blocks, each filled once per choice of the
// variables that stand before the first one it leaves out.
//
// Where few variables come after a prefix, lanes are pairs of variables. Counts and informations of a prefix with one
// variable of a pair are then spread out from those of the prefix with that variable (a "vertex").
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "bound_trial.hpp"
#include "interplay/bit_planes.hpp"
#include "pair_lanes.hpp"
#include "rounded_down.hpp"
#include "two_level_tables.hpp"

namespace interplay {
namespace {

// Pairs pay where they fill the registers this much better: they are counted with longer lists.
constexpr double kPairsMustSave = 1.5;

// Entries of a table, of 2 to 4 KB each: a thread holds a few tables.
constexpr Index kMaxEntries = Index{1} << 15;

// Entries of the lists of samples that pairs keep (2 MB).
constexpr std::size_t kMaxKept = std::size_t{1} << 20;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Counts of "these are 1" → counts of cells; `stride` apart, for `n_members` members.
void subsets_to_cells(ClassCounts* counts, int n_members, int stride = 1) {
  for (int member = 0; member < n_members; ++member) {
    for (int s = 0; s < 1 << n_members; ++s) {
      if (!(s >> member & 1)) counts[s * stride] -= counts[(s | 1 << member) * stride];
    }
  }
}

class TwoLevelSearcher final : public TileSearcher {
 public:
  TwoLevelSearcher(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                   const LaneKernels& kernels, int n_parts, BoundTrial& trial, MaxGains& best, SearchProgress& progress)
      : problem_(problem),
        planes_(problem.planes),
        tables_(tables),
        data_(data),
        kernels_(kernels),
        best_(best),
        progress_(progress),
        pairs_(problem, data, kernels),
        n_parts_(n_parts),
        n_families_((1 << n_parts) - 1),
        n_prefix_(static_cast<int>(problem.tiles.dimensions) - n_parts),
        full_((1 << n_prefix_) - 1),
        trial_(trial) {
    const auto cells = problem.partner_cells;
    group_ = std::lower_bound(cells.begin(), cells.end(), Index{1} << (n_prefix_ + n_parts_ - 1)) - cells.begin();
    for (auto& mask : masks_) mask.resize(planes_.n_words);
    for (auto& mask : inner_masks_) mask.resize(planes_.n_words);
    mask_all_samples(planes_, masks_[0].data());
    for (auto& list : lists_) list.resize(planes_.n_words * 64 + kListMultiple);
    fresh_.resize(n_families_ * kLanes);
    of_chunk_.resize(kLanes);
    // Smaller subsets first: the information of a larger one needs their counts.
    for (int size = 0; size < n_prefix_; ++size) {
      for (int subset = 0; subset < full_; ++subset) {
        if (std::popcount(static_cast<unsigned>(subset)) == size) filling_order_.push_back(subset);
      }
    }
    for (int subset = 0; subset < full_; ++subset) tables_of_subsets_.emplace_back(subset, n_prefix_);
    subsets_.resize(static_cast<std::size_t>(full_));
  }

  bool search(const std::int32_t* tile) override {
    const VariableBlocks& blocks = problem_.blocks;
    for (int m = 0; m < n_prefix_; ++m) {
      const std::span<const Index> start = blocks.starts(m, problem_.tiles.dimensions);
      begin_[m] = start[tile[m]];
      size_[m] = start[tile[m] + 1] - begin_[m];
    }
    const Index lane_block = tile[problem_.tiles.dimensions - 1];
    contrast_ = blocks.order[blocks.lane_start[lane_block]] >= planes_.n_vars;
    stopped_ = false;
    if (n_parts_ == 1) {
      make_room(0);
      for (Index chunk = data_.first_chunk(lane_block); chunk < data_.last_chunk(lane_block) && !stopped_; ++chunk) {
        lane_begin_ = blocks.lane_start[lane_block] + (chunk - data_.first_chunk(lane_block)) * kLanes;
        n_lanes_ = std::min(kLanes, blocks.lane_start[lane_block + 1] - lane_begin_);
        rows_ = data_.rows(chunk);
        prefix_end_ = lane_begin_ + n_lanes_ - 1;
        search_chunk();
      }
    } else {
      pairs_.set_up(tile[n_prefix_], lane_block);
      make_room(pairs_.n_vertex_chunks * pairs_.vertex_lanes);
      for (Index first = 0; first < pairs_.n_pairs && !stopped_; first += pairs_.n_lanes) {
        pairs_.start_chunk(first);
        n_lanes_ = pairs_.n_lanes;
        rows_ = pairs_.rows;
        prefix_end_ = pairs_.last_first;
        keep_lists_ = first + n_lanes_ < pairs_.n_pairs;
        search_chunk();
      }
    }
    progress_.tuples_done.fetch_add(tuples_, std::memory_order_relaxed);
    tuples_ = 0;
    return !stopped_;
  }

 private:
  void make_room(Index n_vertices) {
    n_vertices_ = n_vertices;
    Places block{};
    for (int m = 1; m < n_prefix_; ++m) {
      block[m] = begin_[m] == begin_[m - 1] && size_[m] == size_[m - 1] ? block[m - 1] : m;
    }
    for (SubsetTable& table : tables_of_subsets_) table.make_room(size_, n_families_, n_vertices);
    for (int subset = 0; subset < full_; ++subset) {
      subsets_[subset] = find_subset(subset, n_prefix_, block, tables_of_subsets_);
    }
    if (n_parts_ == 2) vertex_table_.make_room(size_, n_prefix_, n_vertices);
  }

  Index lane_member(Index lane, int part) const {
    return n_parts_ == 1 ? problem_.blocks.order[lane_begin_ + lane] : pairs_.members[lane][part];
  }

  void search_chunk() {
    for (int part = 0; part < n_parts_; ++part) {
      const bool counts = !contrast_ || part + 1 == n_parts_;
      for (Index lane = 0; lane < n_lanes_; ++lane) {
        best_of_part_[part][lane] = counts ? best_so_far(lane_member(lane, part)) : kInfinity;
      }
    }
    descend(0);
  }

  float best_so_far(Index row) const { return rounded_down(best_.gain[slot(row)]); }
  Index slot(Index row) const { return row * static_cast<Index>(problem_.partner_cells.size()) + group_; }
  const Word* plane_at(Index place) const { return planes_.plane(problem_.blocks.order[place], 1); }

  // Places 0 … depth − 1 are chosen.
  void descend(int depth) {
    for (const int subset : filling_order_) {
      SubsetTable& table = tables_of_subsets_[subset];
      if (table.n_leading == depth && subsets_[subset].table == &table) fill(table, 0, masks_[depth].data());
    }
    const Index after = depth == 0 ? begin_[0] : begin_[depth - 1] + local_[depth - 1] + 1;
    const Index end = std::min(begin_[depth] + size_[depth], prefix_end_);
    for (Index place = std::max(begin_[depth], after); place < end && !stopped_; ++place) {
      local_[depth] = place - begin_[depth];
      if (depth + 1 == n_prefix_) {
        meet_lanes(place);
      } else {
        and_masks(masks_[depth].data(), plane_at(place), masks_[depth + 1].data());
        descend(depth + 1);
      }
    }
  }

  void and_masks(const Word* a, const Word* b, Word* target) const {
    for (Index w = 0; w < planes_.n_words; ++w) target[w] = a[w] & b[w];
  }

  // Fill the entries of a table: choose the variables of its inner places, from the i-th on.
  void fill(SubsetTable& table, int i, const Word* mask) {
    if (i == table.n_inner) {
      fill_entry(table, mask, mask);
      return;
    }
    const int place = table.inner[i];
    // Only variables in ascending order ever meet.
    const int before = i == 0 ? table.n_leading - 1 : table.inner[i - 1];
    const Index after = before < 0 ? begin_[place] : begin_[before] + local_[before] + 1;
    const Index end = std::min(begin_[place] + size_[place], prefix_end_);
    for (Index at = std::max(begin_[place], after); at < end; ++at) {
      local_[place] = at - begin_[place];
      if (i + 1 == table.n_inner) {
        fill_entry(table, mask, plane_at(at));
      } else {
        and_masks(mask, plane_at(at), inner_masks_[i].data());
        fill(table, i + 1, inner_masks_[i].data());
      }
    }
  }

  void fill_entry(SubsetTable& table, const Word* a, const Word* b) {
    const SubsetEntries& entries = subsets_[table.subset];
    const Index entry = entries.entry(local_);
    ClassCounts* lanes = table.lanes.data() + entry * n_families_ * kLanes;
    ClassCounts* of_all_parts = lanes + (n_families_ - 1) * kLanes;
    table.ones[entry] = list_samples(a, b);
    count(rows_, of_all_parts);
    if (n_parts_ == 2) {
      const Index vertex_entry = entries.vertex_entry(local_);
      ClassCounts* vertices = table.vertices.data() + vertex_entry * n_vertices_;
      if (!table.vertices_known[vertex_entry]) {
        table.vertices_known[vertex_entry] = 1;
        count_vertices(vertices);
      }
      pairs_.spread(vertices, 0, lanes, lanes + kLanes);
    }
    if (!table.has_information) return;
    // The sub-tuple's own subsets, numbered by its members.
    std::array<int, kMaxPrefix> members{};
    int n_members = 0;
    for (int place = 0; place < n_prefix_; ++place) {
      if (table.subset >> place & 1) members[n_members++] = place;
    }
    LaneCounts counts;
    for (int s = 0; s < 1 << n_members; ++s) {
      int subset = 0;
      for (int member = 0; member < n_members; ++member) subset |= (s >> member & 1) << members[member];
      point_to(subset, s, counts);
    }
    subsets_to_cells(counts.prefix_cells, n_members);
    // Lanes come after the last member.
    const Index last = n_members == 0 ? -1 : members[n_members - 1];
    const Index first_lane = last < 0 ? 0 : std::min(first_lane_after(begin_[last] + local_[last]), n_lanes_);
    float* information = table.information.data() + entry * kLanes;
    information_kernels()[n_parts_][n_members](data_.model(), counts, static_cast<int>(first_lane),
                                               static_cast<int>(n_lanes_), information);
    if (n_parts_ == 2 && subsets_[full_ >> 1].table == &table) {
      Places chosen{};
      for (int member = 0; member < n_members; ++member) chosen[member] = local_[members[member]];
      keep_vertices(chosen, std::max(begin_[n_prefix_ - 1], last < 0 ? 0 : begin_[last] + local_[last] + 1),
                    of_all_parts, information);
    }
  }

  // All of the prefix but its last member is chosen, and met with pairs. Such a pair may be that member and a vertex:
  // what was found serves the whole prefix with that vertex.
  void keep_vertices(Places chosen, Index first_place, const ClassCounts* counts, const float* information) {
    const int last = n_prefix_ - 1;
    pairs_.for_runs_within(first_place, begin_[last] + size_[last], [&](const PairRun& run) {
      chosen[last] = run.first_place - begin_[last];
      const Index entry = vertex_table_.entry(chosen, n_prefix_);
      const Index first = entry * n_vertices_ + run.second;
      std::copy_n(counts + run.lane, run.n_lanes, vertex_table_.counts.data() + first);
      std::copy_n(information + run.lane, run.n_lanes, vertex_table_.information.data() + first);
      vertex_table_.known[entry] = run.is_last;
    });
  }

  // The samples of the whole prefix. Pairs keep the lists of a tile's prefixes, since chunks that follow need them.
  ClassCounts list_prefix(Index place) {
    KeptLists* kept = n_parts_ == 2 ? &vertex_table_.lists[vertex_table_.entry(local_, n_prefix_)] : nullptr;
    if (kept && kept->first >= 0) {
      const LaneCount* list = vertex_table_.kept.data() + kept->first;
      for (int q = 0; q < 2; ++q) {
        n_listed_[q] = padded(count_of_class(kept->ones, q));
        listed_[q] = list;
        list += n_listed_[q];
      }
      return kept->ones;
    }
    const ClassCounts ones = list_samples(masks_[n_prefix_ - 1].data(), plane_at(place));
    if (keep_lists_ && vertex_table_.kept.size() < kMaxKept) {
      *kept = {static_cast<Index>(vertex_table_.kept.size()), ones};
      for (int q = 0; q < 2; ++q) {
        vertex_table_.kept.insert(vertex_table_.kept.end(), listed_[q], listed_[q] + n_listed_[q]);
      }
    }
    return ones;
  }

  static Index padded(Index n) { return (n + kListMultiple - 1) / kListMultiple * kListMultiple; }

  // List the samples of both classes in which a & b is 1; returns their numbers.
  ClassCounts list_samples(const Word* a, const Word* b) {
    std::array<std::int32_t, 2> ones{};
    for (int q = 0; q < 2; ++q) {
      const Index first = planes_.class_word_start[q];
      LaneCount* list = lists_[q].data();
      const Index n_words = (planes_.class_sizes[q] + 63) / 64;
      const Index n =
          kernels_.list_samples(a + first, b + first, n_words, static_cast<LaneCount>(planes_.class_sizes[q]), list);
      ones[q] = static_cast<std::int32_t>(n);
      n_listed_[q] = padded(n);
      listed_[q] = list;
    }
    return class_counts(ones[0], ones[1]);
  }

  // Listed samples in which each lane is 1: kLanes counts.
  void count(const Word* rows, ClassCounts* counts) const {
    const Word* of_class[2] = {rows + data_.layout().class_start[0], rows + data_.layout().class_start[1]};
    kernels_.count_both_classes(of_class, listed_.data(), n_listed_.data(), counts);
  }

  // The same for the vertices, chunk after chunk.
  void count_vertices(ClassCounts* counts) {
    for (Index v = 0; v < pairs_.n_vertex_chunks; ++v) {
      count(data_.rows(pairs_.vertex_chunk[v]), of_chunk_.data());
      std::copy_n(of_chunk_.data(), pairs_.vertex_lanes, counts + v * pairs_.vertex_lanes);
    }
  }

  // Let subset s of a tuple be the counts of `subset` of the prefix, as it is chosen now.
  void point_to(int subset, int s, LaneCounts& counts) const {
    const SubsetTable& table = *subsets_[subset].table;
    const Index entry = subsets_[subset].entry(local_);
    const ClassCounts* lanes = table.lanes.data() + entry * n_families_ * kLanes;
    for (int family = 0; family < n_families_; ++family) counts.with_lane[family][s] = lanes + family * kLanes;
    counts.prefix_cells[s] = table.ones[entry];
  }

  const InformationKernel (*information_kernels() const)[kMaxPrefix + 1] {
    return trial_.use_polynomial() ? kernels_.information_polynomial : kernels_.information_rational;
  }

  // The first lane whose variables all come after `place`.
  Index first_lane_after(Index place) const {
    return n_parts_ == 1 ? std::max<Index>(0, place + 1 - lane_begin_) : pairs_.first_lane_after(place);
  }

  // The whole prefix is chosen: count, bound, score.
  void meet_lanes(Index place) {
    LaneScoreJob& job = job_;
    job.first_lane = static_cast<int>(std::min(first_lane_after(place), n_lanes_));
    job.last_lane = static_cast<int>(n_lanes_);
    if (job.first_lane >= job.last_lane) return;
    job.counts.prefix_cells[full_] = list_prefix(place);
    count(rows_, fresh_.data() + (n_families_ - 1) * kLanes);
    for (int subset = 0; subset < full_; ++subset) point_to(subset, subset, job.counts);
    for (int family = 0; family < n_families_; ++family) {
      job.counts.with_lane[family][full_] = fresh_.data() + family * kLanes;
    }
    subsets_to_cells(job.counts.prefix_cells, n_prefix_);
    for (int member = 0; member < n_prefix_; ++member) {
      members_[member] = problem_.blocks.order[begin_[member] + local_[member]];
      const SubsetEntries& without = subsets_[full_ & ~(1 << member)];
      job.without_member[member] = without.table->information.data() + without.entry(local_) * kLanes;
      job.best_of_member[member] = contrast_ ? kInfinity : best_so_far(members_[member]);
    }
    if (n_parts_ == 1) {
      const float without_lane = information_of_prefix();
      std::fill_n(without_part_[0].data(), n_lanes_, without_lane);
    } else {
      look_up_vertices();
    }
    for (int part = 0; part < n_parts_; ++part) {
      job.without_part[part] = without_part_[part].data();
      job.best_of_part[part] = best_of_part_[part].data();
    }
    job.survivors = survivors_.data();
    trial_.start();
    const auto& kernels = trial_.use_polynomial() ? kernels_.score_polynomial : kernels_.score_rational;
    const int n_survivors = kernels[n_parts_][n_prefix_](data_.model(), job);
    for (int i = 0; i < n_survivors; ++i) score_exactly(survivors_[i].lane, survivors_[i].bound);
    trial_.stop(job.last_lane - job.first_lane);
    tuples_ += static_cast<std::uint64_t>(job.last_lane - job.first_lane);
    stopped_ = progress_.stop.load(std::memory_order_relaxed);
  }

  float information_of_prefix() {
    for (int s = 0; s <= full_; ++s) {
      set_cell(s, job_.counts.prefix_cells[s]);
    }
    const Fixed fixed = information(tables_.summed_over(2), cells_.data(), full_ + 1, 2);
    return rounded_down(data_.information_of(tables_.to_bits(fixed)));
  }

  void set_cell(int cell, ClassCounts counts) {
    for (int q = 0; q < 2; ++q) cells_[2 * cell + q] = static_cast<Count>(count_of_class(counts, q));
  }

  // Counts and informations of the prefix with one variable of each pair.
  void look_up_vertices() {
    const Index entry = vertex_table_.entry(local_, n_prefix_);
    ClassCounts* counts = vertex_table_.counts.data() + entry * n_vertices_;
    float* lower = vertex_table_.information.data() + entry * n_vertices_;
    if (!vertex_table_.known[entry]) {
      vertex_table_.known[entry] = 1;
      count_vertices(counts);
      for (Index v = 0; v < pairs_.n_vertex_chunks; ++v) {
        LaneCounts with_vertex = job_.counts;
        const Index first_of_chunk = v * pairs_.vertex_lanes;
        for (int subset = 0; subset < full_; ++subset) {
          const SubsetEntries& entries = subsets_[subset];
          with_vertex.with_lane[0][subset] =
              entries.table->vertices.data() + entries.vertex_entry(local_) * n_vertices_ + first_of_chunk;
        }
        with_vertex.with_lane[0][full_] = counts + first_of_chunk;
        const Index first = pairs_.first_vertex_after(begin_[n_prefix_ - 1] + local_[n_prefix_ - 1], v);
        information_kernels()[1][n_prefix_](data_.model(), with_vertex, static_cast<int>(first),
                                            static_cast<int>(pairs_.n_vertices[v]), lower + first_of_chunk);
      }
    }
    pairs_.spread(counts, job_.first_lane, fresh_.data(), fresh_.data() + kLanes);
    // Without the first variable of a pair the second is left, and the other way round.
    pairs_.spread(lower, job_.first_lane, without_part_[1].data(), without_part_[0].data());
  }

  // Whether a member may gain more than it did so far by a tuple that has at most this much information.
  bool may_gain(int member, int lane, double most) const {
    const float* without = member < n_prefix_ ? job_.without_member[member] : job_.without_part[member - n_prefix_];
    return most - static_cast<double>(without[lane]) >= best_.gain[slot(members_[member])];
  }

  void score_exactly(int lane, float bound) {
    const int k = n_prefix_ + n_parts_;
    for (int part = 0; part < n_parts_; ++part) members_[n_prefix_ + part] = lane_member(lane, part);
    // A contrast variable, the last member if there is one, neither helps nor hurts a real one.
    int member = contrast_ ? k - 1 : 0;
    while (member < k && !may_gain(member, lane, static_cast<double>(bound))) ++member;
    if (member == k) return;
    std::array<ClassCounts, 4 * kMaxSubsets> counts;
    std::copy_n(job_.counts.prefix_cells, full_ + 1, counts.data());
    for (int family = 0; family < n_families_; ++family) {
      ClassCounts* of_family = counts.data() + (family + 1) * (full_ + 1);
      for (int s = 0; s <= full_; ++s) of_family[s] = job_.counts.with_lane[family][s][lane];
      subsets_to_cells(of_family, n_prefix_);
    }
    for (int s = 0; s <= full_; ++s) subsets_to_cells(counts.data() + s, n_parts_, full_ + 1);
    for (int cell = 0; cell < (n_families_ + 1) * (full_ + 1); ++cell) set_cell(cell, counts[cell]);
    const Index n_cells = (n_families_ + 1) * (full_ + 1);
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
      if (member >= n_prefix_) best_of_part_[member - n_prefix_][lane] = best_so_far(row);
    }
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const InformationTables& tables_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  MaxGains& best_;
  SearchProgress& progress_;
  PairLanes pairs_;
  const int n_parts_;     // variables of a lane
  const int n_families_;  // their non-empty subsets
  const int n_prefix_;    // variables before the lane
  const int full_;        // the subset that is the whole prefix
  BoundTrial& trial_;
  Index group_;

  // The tile and chunk at hand.
  Places begin_{}, size_{};
  Places local_{};  // chosen variables, as places in their blocks
  Index n_lanes_ = 0;
  Index prefix_end_ = 0;  // variables of the prefix come before this place, else no lane is left
  const Word* rows_ = nullptr;
  bool keep_lists_ = false;  // pairs: another chunk follows
  bool contrast_ = false;
  bool stopped_ = false;
  std::uint64_t tuples_ = 0;
  Index lane_begin_ = 0;  // single lanes: place of the first in the order
  Index n_vertices_ = 0;  // pairs: counts per class and entry

  VertexTable vertex_table_;

  std::vector<SubsetTable> tables_of_subsets_;
  std::vector<SubsetEntries> subsets_;
  std::vector<int> filling_order_;
  std::array<AlignedBuffer<Word>, kMaxPrefix> masks_, inner_masks_;
  std::array<AlignedBuffer<LaneCount>, 2> lists_;
  std::array<Index, 2> n_listed_{};
  std::array<const LaneCount*, 2> listed_{};  // the lists at hand: these, or kept ones
  AlignedBuffer<ClassCounts> fresh_;          // counts of the whole prefix: families * kLanes
  AlignedBuffer<ClassCounts> of_chunk_;       // counts of a chunk of vertices: kLanes
  std::array<std::array<float, kLanes>, kMaxParts> best_of_part_{}, without_part_{};
  std::array<Survivor, kLanes> survivors_{};
  LaneScoreJob job_{};
  std::array<Index, kMaxFastDimensions> members_{};
  std::array<Count, 4 * kMaxSubsets> cells_{}, summed_{};
};

// Single lanes or pairs, tile by tile.
class TwoLevelChooser final : public TileSearcher {
 public:
  TwoLevelChooser(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                  const LaneKernels& kernels, MaxGains& best, SearchProgress& progress)
      : problem_(problem),
        trial_(polynomial_is_sound(data.model()), progress),
        single_(problem, tables, data, kernels, 1, trial_, best, progress) {
    if (problem.tiles.dimensions > 2) {
      pairs_ = std::make_unique<TwoLevelSearcher>(problem, tables, data, kernels, 2, trial_, best, progress);
    }
  }

  bool takes(const std::int32_t* tile) const override { return single_fits(tile) || pairs_fit(tile); }

  bool search(const std::int32_t* tile) override {
    const bool use_pairs = pairs_fit(tile) && (pairs_pay(tile) || !single_fits(tile));
    return use_pairs ? pairs_->search(tile) : single_.search(tile);
  }

 private:
  Index block_size(Index place, const std::int32_t* tile) const {
    const std::span<const Index> start = problem_.blocks.starts(place, problem_.tiles.dimensions);
    return start[tile[place] + 1] - start[tile[place]];
  }

  // The largest table is over all places of the prefix but the first; with pairs, over all of a shorter prefix.
  bool single_fits(const std::int32_t* tile) const {
    Index n_entries = 1;
    for (Index place = 1; place + 1 < problem_.tiles.dimensions; ++place) n_entries *= block_size(place, tile);
    return n_entries <= kMaxEntries;
  }
  bool pairs_fit(const std::int32_t* tile) const {
    if (!pairs_) return false;
    const VariableBlocks& blocks = problem_.blocks;
    const Index k = problem_.tiles.dimensions;
    const auto after =
        std::upper_bound(blocks.lane_start.begin(), blocks.lane_start.end(), blocks.middle_start[tile[k - 2]]);
    if (block_size(k - 1, tile) > kLanes || *after - *(after - 1) > kLanes) return false;
    Index n_entries = 1;
    for (Index place = 0; place + 2 < k; ++place) n_entries *= block_size(place, tile);
    return n_entries <= kMaxEntries;
  }
  bool pairs_pay(const std::int32_t* tile) const {
    const VariableBlocks& blocks = problem_.blocks;
    const Index k = problem_.tiles.dimensions;
    const Index first_begin = blocks.middle_start[tile[k - 2]], first_end = blocks.middle_start[tile[k - 2] + 1];
    const Index lane_begin = blocks.lane_start[tile[k - 1]], lane_end = blocks.lane_start[tile[k - 1] + 1];
    Index n_pairs = 0;
    for (Index first = first_begin; first < first_end; ++first) n_pairs += lane_end - std::max(lane_begin, first + 1);
    const double n_chunks = std::ceil(static_cast<double>(n_pairs) / static_cast<double>(kLanes));
    return n_chunks * kPairsMustSave < static_cast<double>(first_end - first_begin);
  }

  const SearchProblem& problem_;
  BoundTrial trial_;
  TwoLevelSearcher single_;
  std::unique_ptr<TwoLevelSearcher> pairs_;
};

}  // namespace

std::unique_ptr<TileSearcher> make_two_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                      const TwoLevelData& data, SimdLevel level, MaxGains& best,
                                                      SearchProgress& progress) {
  return std::make_unique<TwoLevelChooser>(problem, tables, data, lane_kernels(level), best, progress);
}

}  // namespace interplay
