// Two-level, two-class tiles: a prefix walk that counts both classes of a lane in one number. There is one pattern that
// leaves no member open: all of the prefix is 1.
//
// Where few variables come after a prefix, lanes are pairs of variables. Counts and informations of a prefix with one
// variable of a pair are then spread out from those of the prefix with that variable (a "vertex").
#include "search/two_level_search.hpp"

#include "rows/pair_lanes.hpp"
#include "rows/sample_lists.hpp"
#include "search/prefix_walk.hpp"

namespace interplay {
namespace {

// Entries of the lists of samples that pairs keep (2 MB).
constexpr Index kMaxKept = Index{1} << 20;

// Counts and bounds of a subset of the prefix with each vertex. Kept for a tile, since each set of pairs needs them.
struct VertexTable {
  AlignedBuffer<ClassCounts> counts;  // tile entries * vertices
  AlignedBuffer<float> information;   // the same; only of the whole prefix
  std::vector<std::uint8_t> known;    // tile entries
};

class TwoLevelSearcher final : public PrefixWalk<TwoLevelSearcher, LaneScoreJob> {
 public:
  TwoLevelSearcher(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                   const LaneKernels& kernels, int n_parts, BoundTrial& trial, SurvivorSink& sink,
                   SearchProgress& progress)
      : PrefixWalk(problem, tables, data, kernels, n_parts, 1, trial, sink, progress),
        n_families_((1 << n_parts) - 1),
        data_(data),
        pairs_(problem, data, kernels),
        lists_(planes_, data, kernels),
        kept_lists_(planes_, data, kernels),
        vertex_tables_(tables_.size()) {
    lists_.make_room(kCountedTogether * planes_.n_words * 64);
    if (n_parts == 2) kept_lists_.make_room(kMaxKept);
    counted_.resize(kCountedTogether * kLanes);
    with_parts_.resize(n_families_ * kLanes);
    of_row_.resize(kLanes);
  }

 private:
  friend PrefixWalk;

  // Most blocks have no more variables.
  static constexpr Index kCountedTogether = 64;

  Index vars_at_a_time(const std::int32_t* tile) const { return problem_.block_size(tile, n_prefix_ - 1); }

  Index pattern_size(const std::int32_t*) const { return n_families_ * kLanes; }

  void start_tile(const std::int32_t* tile) {
    if (n_parts_ == 1) return;
    next_pair_ = 0;
    pairs_.set_up(tile[n_prefix_], tile[n_prefix_ + 1]);
    n_vertices_ = pairs_.n_vertex_rows * pairs_.vertex_lanes;
    for (const Table& table : tables_) {
      VertexTable& vertices = vertex_tables_[table.subset];
      vertices.counts.resize(table.n_tile_entries * n_vertices_ + PairLanes::kStep);
      vertices.known.assign(static_cast<std::size_t>(table.n_tile_entries), 0);
      if (table.subset != full_) continue;
      vertices.information.resize(table.n_tile_entries * n_vertices_ + PairLanes::kStep);
      kept_.resize(table.n_tile_entries);
      is_kept_.assign(static_cast<std::size_t>(table.n_tile_entries), 0);
    }
    kept_lists_.clear();
  }

  bool next_lanes() {
    if (n_parts_ == 1) return next_single_lanes(1, kLanes) > 0;
    if (next_pair_ >= pairs_.n_pairs) return false;  // below 0 where no first variable has one after it
    pairs_.start_lanes(next_pair_, scorer_.lane_members);
    rows_ = pairs_.rows;
    n_lanes_ = pairs_.n_lanes;
    next_pair_ += n_lanes_;
    prefix_end_ = pairs_.last_first;
    return true;
  }

  Index first_lane_after(Index place) const {
    return n_parts_ == 1 ? first_single_lane_after(place) : pairs_.first_lane_after(place);
  }

  void count_entry(Table& table, Index entry, const Word* mask, Index, Index place) {
    ClassCounts* lanes = table.lanes.data() + entry * n_families_ * kLanes;
    lists_.clear();
    const ListedSamples listed = lists_.make(mask, place < 0 ? mask : plane_at(place, 1));
    table.ones[entry] = listed.ones;
    lists_.count(listed, rows_, lanes + (n_families_ - 1) * kLanes);
    if (n_parts_ == 2) pairs_.spread(vertices_of(table.subset, listed), 0, lanes, lanes + kLanes);
  }

  void bound_entry(Table& table, Index entry, int first_lane) {
    LaneCounts counts;
    point_to(table.subset, counts);
    float* information = table.information.data() + entry * kLanes;
    information_kernel(n_parts_, n_prefix_ - 1)(data_.model(), counts, first_lane, static_cast<int>(n_lanes_),
                                                information);
    const bool lacks_last = subsets_[full_ >> 1].table == &table;
    if (n_parts_ == 2 && lacks_last) keep_vertices(table, entry, information);
  }

  static Index start_prefixes() { return kCountedTogether; }

  void count_prefixes(Index begin, Index end) {
    lists_.clear();
    for (Index place = begin; place < end; ++place) {
      local_[n_prefix_ - 1] = place - begin_[n_prefix_ - 1];
      listed_[place - begin] = list_prefix(place);
    }
    lists_.count({listed_.data(), static_cast<std::size_t>(end - begin)}, rows_, counted_.data());
  }

  void select_prefix(Index i) {
    whole_ = &listed_[i];
    whole_ones_ = &whole_->ones;
    counted_with_lanes_ = counted_.data() + i * kLanes;
    whole_lanes_ = n_parts_ == 1 ? counted_with_lanes_ : with_parts_.data();
  }

  void point(LaneCounts& counts, Index i, Index, const ClassCounts* lanes, const Count* ones) const {
    for (Index family = 0; family < n_families_; ++family) counts.with_lane[family][i] = lanes + family * kLanes;
    counts.prefix_cells[i] = *ones;
  }

  void close_prefix(LaneCounts& counts, int n_members) const {
    patterns_to_cells(counts.prefix_cells, 0, n_members, TwoLevels{});
  }

  void score_lanes() {
    if (n_parts_ == 1) {
      scorer_.set_without_part(TwoLevelReader{job_.counts});
    } else {
      look_up_vertices();
    }
    const ScoreKernel kernel = kernels_.score_of(data_.model(), trial_.use_polynomial(), n_parts_, n_prefix_);
    scorer_.score(kernel, data_.model(), job_, TwoLevelReader{job_.counts});
  }

  InformationKernel information_kernel(int n_parts, int n_members) const {
    return kernels_.information_of(data_.model(), trial_.use_polynomial(), n_parts, n_members);
  }

  // The samples of the whole prefix. Pairs keep the lists of a tile's prefixes while pairs that follow need them.
  ListedSamples list_prefix(Index place) {
    const Word* all_but_last = masks_[n_prefix_ - 1].data();
    if (n_parts_ == 1) return lists_.make(all_but_last, plane_at(place, 1));
    const Index entry = subsets_[full_].tile_entry(local_);
    ListedSamples& kept = kept_.data()[entry];
    if (is_kept_[entry]) return kept;
    const bool keep = next_pair_ < pairs_.n_pairs && kept_lists_.has_room();
    if (!keep) return lists_.make(all_but_last, plane_at(place, 1));
    is_kept_[entry] = 1;
    return kept = kept_lists_.make(all_but_last, plane_at(place, 1));
  }

  // The counts of a subset of the prefix, whose samples are listed, with each vertex.
  ClassCounts* vertices_of(int subset, const ListedSamples& listed) {
    VertexTable& vertices = vertex_tables_[subset];
    const Index entry = subsets_[subset].tile_entry(local_);
    ClassCounts* counts = vertices.counts.data() + entry * n_vertices_;
    if (vertices.known[entry]) return counts;
    vertices.known[entry] = 1;
    for (Index v = 0; v < pairs_.n_vertex_rows; ++v) {
      lists_.count(listed, pairs_.vertex_rows[v], of_row_.data());
      std::copy_n(of_row_.data(), pairs_.vertex_lanes, counts + v * pairs_.vertex_lanes);
    }
    return counts;
  }

  // All of the prefix but its last member is chosen, and met with pairs. Such a pair may be that member and a vertex:
  // its counts and bound are then those of the whole prefix with that vertex.
  void keep_vertices(const Table& table, Index entry, const float* information) {
    const int last = n_prefix_ - 1, before = table.last_place();
    Places chosen{};
    for (int place = 0, member = 0; place < n_prefix_; ++place) {
      if (table.subset >> place & 1) chosen[member++] = local_[place];
    }
    const ClassCounts* counts = table.lanes.data() + (entry * n_families_ + n_families_ - 1) * kLanes;
    const Index after = before < 0 ? 0 : place_of(before) + 1;
    VertexTable& vertices = vertex_tables_[full_];
    pairs_.for_fans_within(std::max(begin_[last], after), begin_[last] + size_[last], [&](const PairFan& fan) {
      chosen[last] = fan.first_place - begin_[last];
      const Index whole = subsets_[full_].tile_entry(chosen);
      const Index first = whole * n_vertices_ + fan.second;
      std::copy_n(counts + fan.lane, fan.n_lanes, vertices.counts.data() + first);
      std::copy_n(information + fan.lane, fan.n_lanes, vertices.information.data() + first);
      vertices.known[whole] = fan.is_last;
    });
  }

  // Counts and informations of the prefix with one variable of each pair.
  void look_up_vertices() {
    VertexTable& vertices = vertex_tables_[full_];
    const Index entry = subsets_[full_].tile_entry(local_);
    float* lower = vertices.information.data() + entry * n_vertices_;
    const bool is_known = vertices.known[entry];
    const ClassCounts* counts = vertices_of(full_, *whole_);
    for (Index v = 0; v < pairs_.n_vertex_rows && !is_known; ++v) {
      const Index first_of_row = v * pairs_.vertex_lanes;
      LaneCounts with_vertex;
      std::copy_n(job_.counts.prefix_cells, full_ + 1, with_vertex.prefix_cells);
      for (int subset = 0; subset <= full_; ++subset) {
        const SubsetEntries<ClassCounts>& entries = subsets_[subset];
        with_vertex.with_lane[0][subset] = vertex_tables_[entries.table->subset].counts.data() +
                                           entries.tile_entry(local_) * n_vertices_ + first_of_row;
      }
      const Index first = pairs_.first_vertex_after(place_of(n_prefix_ - 1), v);
      information_kernel(1, n_prefix_)(data_.model(), with_vertex, static_cast<int>(first),
                                       static_cast<int>(pairs_.n_vertices[v]), lower + first_of_row);
    }
    // With parts of each pair, in a buffer that stays in cache; with all of it, as it was counted.
    pairs_.spread(counts, job_.first_lane, with_parts_.data(), with_parts_.data() + kLanes);
    job_.counts.with_lane[n_families_ - 1][full_] = counted_with_lanes_;
    // Without the first variable of a pair the second is left, and the other way round.
    pairs_.spread(lower, job_.first_lane, scorer_.without_part[1].data(), scorer_.without_part[0].data());
  }

  const Index n_families_;  // of parts of a lane, each with a vector of counts
  const TwoLevelData& data_;
  PairLanes pairs_;
  SampleLists lists_, kept_lists_;

  std::array<ListedSamples, kCountedTogether> listed_{};  // of the prefixes that are counted together
  const ListedSamples* whole_ = nullptr;                  // of the one at hand
  AlignedBuffer<ClassCounts> counted_;                    // each of them with every lane: kCountedTogether * kLanes
  const ClassCounts* counted_with_lanes_ = nullptr;       // of the one at hand
  AlignedBuffer<ClassCounts> with_parts_;                 // the one at hand with parts of every lane: families * kLanes

  // Pairs only.
  Index next_pair_ = 0;  // the first pair of the next lanes
  Index n_vertices_ = 0;
  std::vector<VertexTable> vertex_tables_;  // [subset]
  AlignedBuffer<ClassCounts> of_row_;       // counts of a row of vertices: kLanes
  AlignedBuffer<ListedSamples> kept_;       // of the whole prefix: tile entries
  std::vector<std::uint8_t> is_kept_;
};

}  // namespace

std::unique_ptr<TileSearcher> make_two_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                      const TwoLevelData& data, const LaneKernels& kernels, int n_parts,
                                                      BoundTrial& trial, SurvivorSink& sink, SearchProgress& progress) {
  return std::make_unique<TwoLevelSearcher>(problem, tables, data, kernels, n_parts, trial, sink, progress);
}

}  // namespace interplay
