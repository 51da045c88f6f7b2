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
#include <vector>

#include "interplay/bit_planes.hpp"
#include "rows/pair_lanes.hpp"
#include "rows/sample_lists.hpp"
#include "search/lane_scorer.hpp"
#include "search/two_level_searchers.hpp"
#include "search/two_level_tables.hpp"

namespace interplay {
namespace {

// Entries of a table, of 2 to 4 KB each: a thread holds a few tables.
constexpr Index kMaxEntries = Index{1} << 15;

// Entries of the lists of samples that pairs keep (2 MB).
constexpr Index kMaxKept = Index{1} << 20;

// Prefixes that are counted together: most blocks have no more variables.
constexpr Index kCountedTogether = 64;

class TableSearcher final : public TileSearcher {
 public:
  TableSearcher(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                const LaneKernels& kernels, int n_parts, BoundTrial& trial, SurvivorSink& sink,
                SearchProgress& progress)
      : problem_(problem),
        planes_(problem.planes),
        data_(data),
        progress_(progress),
        pairs_(problem, data, kernels),
        lists_(planes_, data, kernels),
        kept_lists_(planes_, data, kernels),
        scorer_(problem, tables, data, kernels, n_parts, trial, sink),
        n_parts_(n_parts),
        n_families_(scorer_.n_families),
        n_prefix_(scorer_.n_prefix),
        full_(scorer_.full) {
    for (auto& mask : masks_) mask.resize(planes_.n_words);
    for (auto& mask : inner_masks_) mask.resize(planes_.n_words);
    mask_all_samples(planes_, masks_[0].data());
    lists_.make_room(kCountedTogether * planes_.n_words * 64);
    if (n_parts == 2) kept_lists_.make_room(kMaxKept);
    counted_.resize(kCountedTogether * kLanes);
    fresh_.resize((n_families_ - 1) * kLanes);
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

  bool takes(const std::int32_t* tile) const override {
    return n_entries(tile) <= kMaxEntries && (n_parts_ == 1 || PairLanes::fit(problem_, tile));
  }

  bool search(const std::int32_t* tile) override {
    const VariableBlocks& blocks = problem_.blocks;
    for (int m = 0; m < n_prefix_; ++m) {
      begin_[m] = problem_.block_begin(tile, m);
      size_[m] = problem_.block_size(tile, m);
    }
    const Index lane_block = tile[problem_.tiles.dimensions - 1];
    contrast_ = blocks.order[blocks.lane_start[lane_block]] >= planes_.n_vars;
    stopped_ = false;
    if (n_parts_ == 1) {
      make_room(0);
      for (Index chunk = data_.first_chunk(lane_block); chunk < data_.last_chunk(lane_block) && !stopped_; ++chunk) {
        lane_begin_ = blocks.lane_start[lane_block] + (chunk - data_.first_chunk(lane_block)) * kLanes;
        n_lanes_ = std::min(kLanes, blocks.lane_start[lane_block + 1] - lane_begin_);
        for (Index lane = 0; lane < n_lanes_; ++lane) scorer_.lane_members[lane] = {blocks.order[lane_begin_ + lane]};
        rows_ = data_.rows(chunk);
        prefix_end_ = lane_begin_ + n_lanes_ - 1;
        search_chunk();
      }
    } else {
      pairs_.set_up(tile[n_prefix_], lane_block);
      make_room(pairs_.n_vertex_chunks * pairs_.vertex_lanes);
      for (Index first = 0; first < pairs_.n_pairs && !stopped_; first += pairs_.n_lanes) {
        pairs_.start_chunk(first, scorer_.lane_members);
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
    kept_lists_.clear();
  }

  void search_chunk() {
    scorer_.start_chunk(contrast_, n_lanes_);
    descend(0);
  }

  const Word* plane_at(Index place) const { return planes_.plane(problem_.blocks.order[place], 1); }

  // Places 0 … depth − 1 are chosen.
  void descend(int depth) {
    for (const int subset : filling_order_) {
      SubsetTable& table = tables_of_subsets_[subset];
      if (table.n_leading == depth && subsets_[subset].table == &table) fill(table, 0, masks_[depth].data());
    }
    const Index after = depth == 0 ? begin_[0] : begin_[depth - 1] + local_[depth - 1] + 1;
    const Index begin = std::max(begin_[depth], after);
    const Index end = std::min(begin_[depth] + size_[depth], prefix_end_);
    if (depth + 1 == n_prefix_) {
      for (Index first = begin; first < end && !stopped_; first += kCountedTogether) {
        meet_lanes(first, std::min(first + kCountedTogether, end));
      }
      return;
    }
    for (Index place = begin; place < end && !stopped_; ++place) {
      local_[depth] = place - begin_[depth];
      and_masks(masks_[depth].data(), plane_at(place), masks_[depth + 1].data());
      descend(depth + 1);
    }
  }

  // All of the prefix but its last member is chosen: that is at one of these places.
  void meet_lanes(Index begin, Index end) {
    const int last = n_prefix_ - 1;
    lists_.clear();
    for (Index place = begin; place < end; ++place) {
      local_[last] = place - begin_[last];
      listed_[place - begin] = list_prefix(place);
    }
    lists_.count({listed_.data(), static_cast<std::size_t>(end - begin)}, rows_, counted_.data());
    for (Index place = begin; place < end && !stopped_; ++place) {
      local_[last] = place - begin_[last];
      score_lanes(place, listed_[place - begin], counted_.data() + (place - begin) * kLanes);
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
    lists_.clear();
    const ListedSamples listed = lists_.make(a, b);
    table.ones[entry] = listed.ones;
    lists_.count(listed, rows_, of_all_parts);
    if (n_parts_ == 2) {
      const Index vertex_entry = entries.vertex_entry(local_);
      ClassCounts* vertices = table.vertices.data() + vertex_entry * n_vertices_;
      if (!table.vertices_known[vertex_entry]) {
        table.vertices_known[vertex_entry] = 1;
        count_vertices(listed, vertices);
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
    subsets_to_cells(counts.prefix_cells, 0, n_members);
    // Lanes come after the last member.
    const Index last = n_members == 0 ? -1 : members[n_members - 1];
    const Index first_lane = last < 0 ? 0 : std::min(first_lane_after(begin_[last] + local_[last]), n_lanes_);
    float* information = table.information.data() + entry * kLanes;
    scorer_.information_kernel(n_parts_, n_members)(data_.model(), counts, static_cast<int>(first_lane),
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
  ListedSamples list_prefix(Index place) {
    const Word* all_but_last = masks_[n_prefix_ - 1].data();
    if (n_parts_ == 1) return lists_.make(all_but_last, plane_at(place));
    const Index entry = vertex_table_.entry(local_, n_prefix_);
    ListedSamples& kept = vertex_table_.lists.data()[entry];
    if (vertex_table_.lists_kept[entry]) return kept;
    if (!keep_lists_ || !kept_lists_.has_room()) return lists_.make(all_but_last, plane_at(place));
    vertex_table_.lists_kept[entry] = 1;
    return kept = kept_lists_.make(all_but_last, plane_at(place));
  }

  // Listed samples in which each vertex is 1, chunk after chunk.
  void count_vertices(const ListedSamples& listed, ClassCounts* counts) {
    for (Index v = 0; v < pairs_.n_vertex_chunks; ++v) {
      lists_.count(listed, data_.rows(pairs_.vertex_chunk[v]), of_chunk_.data());
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

  // The first lane whose variables all come after `place`.
  Index first_lane_after(Index place) const {
    return n_parts_ == 1 ? std::max<Index>(0, place + 1 - lane_begin_) : pairs_.first_lane_after(place);
  }

  // The whole prefix is chosen, and its samples are counted in each lane: bound, score.
  void score_lanes(Index place, const ListedSamples& listed, const ClassCounts* counted) {
    LaneScoreJob& job = scorer_.job;
    job.first_lane = static_cast<int>(first_lane_after(place));
    job.last_lane = static_cast<int>(n_lanes_);
    job.counts.prefix_cells[full_] = listed.ones;
    for (int subset = 0; subset < full_; ++subset) point_to(subset, subset, job.counts);
    for (int family = 0; family + 1 < n_families_; ++family) {
      job.counts.with_lane[family][full_] = fresh_.data() + family * kLanes;
    }
    job.counts.with_lane[n_families_ - 1][full_] = counted;
    subsets_to_cells(job.counts.prefix_cells, 0, n_prefix_);
    for (int member = 0; member < n_prefix_; ++member) {
      const SubsetEntries& without = subsets_[full_ & ~(1 << member)];
      scorer_.set_member(member, problem_.blocks.order[begin_[member] + local_[member]],
                         without.table->information.data() + without.entry(local_) * kLanes);
    }
    if (n_parts_ == 1) {
      std::fill_n(scorer_.without_part[0].data(), n_lanes_, scorer_.information_of_prefix());
    } else {
      look_up_vertices(listed);
    }
    scorer_.score();
    tuples_ += static_cast<std::uint64_t>(job.last_lane - job.first_lane);
    stopped_ = progress_.stop.load(std::memory_order_relaxed);
  }

  // Counts and informations of the prefix with one variable of each pair.
  void look_up_vertices(const ListedSamples& listed) {
    const Index entry = vertex_table_.entry(local_, n_prefix_);
    ClassCounts* counts = vertex_table_.counts.data() + entry * n_vertices_;
    float* lower = vertex_table_.information.data() + entry * n_vertices_;
    if (!vertex_table_.known[entry]) {
      vertex_table_.known[entry] = 1;
      count_vertices(listed, counts);
      for (Index v = 0; v < pairs_.n_vertex_chunks; ++v) {
        LaneCounts with_vertex;
        std::copy_n(scorer_.job.counts.prefix_cells, full_ + 1, with_vertex.prefix_cells);
        const Index first_of_chunk = v * pairs_.vertex_lanes;
        for (int subset = 0; subset < full_; ++subset) {
          const SubsetEntries& entries = subsets_[subset];
          with_vertex.with_lane[0][subset] =
              entries.table->vertices.data() + entries.vertex_entry(local_) * n_vertices_ + first_of_chunk;
        }
        with_vertex.with_lane[0][full_] = counts + first_of_chunk;
        const Index first = pairs_.first_vertex_after(begin_[n_prefix_ - 1] + local_[n_prefix_ - 1], v);
        scorer_.information_kernel(1, n_prefix_)(data_.model(), with_vertex, static_cast<int>(first),
                                                 static_cast<int>(pairs_.n_vertices[v]), lower + first_of_chunk);
      }
    }
    const int first_lane = scorer_.job.first_lane;
    pairs_.spread(counts, first_lane, fresh_.data(), fresh_.data() + kLanes);
    // Without the first variable of a pair the second is left, and the other way round.
    pairs_.spread(lower, first_lane, scorer_.without_part[1].data(), scorer_.without_part[0].data());
  }

  // The largest table is over all places of the prefix but the first; with pairs, over all of a shorter prefix.
  Index n_entries(const std::int32_t* tile) const {
    Index n = 1;
    for (Index place = n_parts_ == 1; place < n_prefix_; ++place) n *= problem_.block_size(tile, place);
    return n;
  }

  const SearchProblem& problem_;
  const BitPlanes& planes_;
  const TwoLevelData& data_;
  SearchProgress& progress_;
  PairLanes pairs_;
  SampleLists lists_, kept_lists_;
  LaneScorer scorer_;
  const int n_parts_, n_families_, n_prefix_, full_;  // as in the scorer

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
  std::array<ListedSamples, kCountedTogether> listed_{};  // of the prefixes that are counted together
  AlignedBuffer<ClassCounts> counted_;                    // each of them with every lane: kCountedTogether * kLanes
  AlignedBuffer<ClassCounts> fresh_;     // the one at hand, with parts of every lane: families but the last * kLanes
  AlignedBuffer<ClassCounts> of_chunk_;  // counts of a chunk of vertices: kLanes
};

}  // namespace

std::unique_ptr<TileSearcher> make_table_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                  const TwoLevelData& data, const LaneKernels& kernels, int n_parts,
                                                  BoundTrial& trial, SurvivorSink& sink, SearchProgress& progress) {
  return std::make_unique<TableSearcher>(problem, tables, data, kernels, n_parts, trial, sink, progress);
}

}  // namespace interplay
