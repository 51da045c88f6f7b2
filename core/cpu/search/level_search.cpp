// Tiles of variables with any number of levels, any number of classes: a prefix walk that counts each class of a lane,
// with each of its levels from 1 on.
#include <cmath>

#include "rows/level_data.hpp"
#include "rows/list_class.hpp"
#include "rows/restricted_rows.hpp"
#include "search/prefix_walk.hpp"
#include "search/tile_limits.hpp"

namespace interplay {
namespace {

class LevelSearcher final : public PrefixWalk<LevelSearcher, LevelScoreJob> {
 public:
  LevelSearcher(const SearchProblem& problem, const InformationTables& tables, const LevelData& data,
                const LaneKernels& kernels, SurvivorSink& sink, SearchProgress& progress)
      : PrefixWalk(problem, tables, data, kernels, 1, problem.planes.n_classes(), problem.planes.n_classes(),
                   own_trial_, sink, progress),
        data_(data),
        n_classes_(planes_.n_classes()),
        own_trial_(n_classes_ == 2 ? &data.model().two_classes : nullptr, progress),
        lists_(static_cast<std::size_t>(n_classes_)) {
    for (Index q = 0; q < n_classes_; ++q) {
      const Index n_words = planes_.class_word_start[q + 1] - planes_.class_word_start[q];
      lists_[q].resize(n_words * 64 + kListMultiple);
    }
  }

 private:
  friend PrefixWalk;

  static constexpr Index counted_together() { return 1; }

  Index vars_at_a_time(const std::int32_t* tile) const { return last_prefix_vars_at_a_time(problem_, tile); }

  void start_tile(const std::int32_t*) {
    LevelShape& shape = job_.counts.shape;
    shape.n_prefix = n_prefix_;
    shape.n_patterns = 1;
    Index n_closed = 1;
    for (int m = 0; m < n_prefix_; ++m) {
      shape.levels[m] = static_cast<int>(levels_[m]);
      shape.n_patterns *= shape.levels[m];
      n_closed *= levels_[m] - 1;
    }
    shape.lane_levels = static_cast<int>(levels_[n_prefix_]);
    shape.lane_stride = static_cast<int>(LevelData::lane_stride(levels_[n_prefix_]));
    fresh_.resize(n_closed * n_classes_ * kLanes);
    fresh_ones_.resize(static_cast<std::size_t>(n_closed * n_classes_));
    const std::size_t n_pointers = static_cast<std::size_t>(n_classes_ * shape.n_patterns);
    with_lane_.resize(n_pointers);
    prefix_cells_.resize(n_pointers);
    scratch_.resize(shape.n_patterns * shape.lane_levels * n_classes_ * 16);
    job_.counts.with_lane = with_lane_.data();
    job_.counts.prefix_cells = prefix_cells_.data();
    job_.counts.scratch = scratch_.data();
    for (const bool polynomial : {false, true}) {
      kernels_by_bound_[polynomial] = kernels_.levels.score_of(shape, static_cast<int>(n_classes_), polynomial);
    }
  }

  bool next_lanes() { return next_single_lanes(); }
  Index first_lane_after(Index place) const { return first_single_lane_after(place); }

  void count_entry(Table& table, Index entry, const Word* masks, Index n, Index place) {
    const Index first = entry * table.n_patterns * n_classes_;
    count_patterns(masks, n, place, table.lanes.data() + first * kLanes, table.ones.data() + first);
  }

  void bound_entry(Table& table, Index entry, int first_lane) {
    const int missing = table.n_leading;
    LevelCounts counts = job_.counts;
    std::copy(counts.shape.levels + missing + 1, counts.shape.levels + n_prefix_, counts.shape.levels + missing);
    counts.shape.n_prefix = n_prefix_ - 1;
    counts.shape.n_patterns /= static_cast<int>(levels_[missing]);
    point_to(table.subset, counts);
    kernels_.levels.information(data_.model(), counts, static_cast<float>(levels_[missing]), first_lane,
                                static_cast<int>(n_lanes_), table.information.data() + entry * kLanes);
  }

  // List the samples of each mask with each level from 1 on of the variable at `place` (of the mask alone if there is
  // none), and count those in which each bit of a row is 1.
  void count_patterns(const Word* masks, Index n, Index place, LaneCount* counts, Count* ones) {
    const Index n_levels = place < 0 ? 2 : levels_at(place);
    for (Index level = 1; level < n_levels; ++level) {
      const Word* mask = masks;
      for (Index i = 0; i < n; ++i, mask += planes_.n_words) {
        const Word* plane = place < 0 ? mask : plane_at(place, level);
        for (Index q = 0; q < n_classes_; ++q, counts += kLanes) {
          LaneCount* list = lists_[q].data();
          const std::int32_t n_listed = list_class(kernels_, planes_, q, mask, plane, list);
          *ones++ = static_cast<Count>(n_listed);
          kernels_.count_lanes(rows_ + data_.layout().class_start[q], list, padded(n_listed), counts);
        }
      }
    }
  }

  void start_prefixes() {
    if (n_prefix_ == 1) return;
    const Index n = n_masks_[n_prefix_ - 1];
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

  void count_prefixes(Index place, Index) {
    if (n_prefix_ == 1) {
      count_patterns(masks_[0].data(), 1, place, fresh_.data(), fresh_ones_.data());
    } else {
      count_restricted(place, fresh_.data(), fresh_ones_.data());
    }
  }

  // What count_patterns does for the last member of the prefix, with the rows of the masks alone.
  void count_restricted(Index place, LaneCount* counts, Count* ones) {
    for (Index level = 1; level < levels_[n_prefix_ - 1]; ++level) {
      const Word* mask = masks_[n_prefix_ - 1].data();
      for (std::size_t first = 0; first < restricted_.size(); first += n_classes_, mask += planes_.n_words) {
        for (Index q = 0; q < n_classes_; ++q, counts += kLanes) {
          const RestrictedRows& restricted = restricted_[first + q];
          const Index start = planes_.class_word_start[q], n_words = (planes_.class_sizes[q] + 63) / 64;
          LaneCount* list = lists_[q].data();
          const Index n = kernels_.list_within(plane_at(place, level) + start, mask + start, n_words,
                                               restricted.n_bytes, restricted.n_samples, list);
          *ones++ = static_cast<Count>(n);
          kernels_.count_lanes(restricted.rows, list, padded(n), counts);
        }
      }
    }
  }

  void select_prefix(Index) {
    whole_lanes_ = fresh_.data();
    whole_ones_ = fresh_ones_.data();
  }

  void point(LevelCounts&, Index i, Index n, const LaneCount* lanes, const Count* ones) {
    for (Index q = 0; q < n_classes_; ++q) {
      with_lane_[q * n + i] = lanes + q * kLanes;
      prefix_cells_[q * n + i] = ones[q];
    }
  }

  void close_prefix(LevelCounts& counts, int n_members) {
    const auto levels_of = [&](int member) { return counts.shape.levels[member]; };
    for (Index q = 0; q < n_classes_; ++q) {
      patterns_to_cells(prefix_cells_.data() + q * counts.shape.n_patterns, 0, n_members, levels_of);
    }
  }

  void bound_parts() { scorer_.set_without_part(LevelForm{job_.counts, n_classes_}); }

  void score_lanes() {
    scorer_.score(kernels_by_bound_[trial_.use_polynomial()], data_.model(), job_, LevelForm{job_.counts, n_classes_});
  }

  const LevelData& data_;
  const Index n_classes_;
  BoundTrial own_trial_;
  LevelScoreKernel kernels_by_bound_[2]{};  // [polynomial]

  std::vector<AlignedBuffer<LaneCount>> lists_;  // [class]
  std::vector<RestrictedRows> restricted_;       // [mask][class]
  AlignedBuffer<Word> restricted_rows_;
  AlignedBuffer<LaneCount> fresh_;  // counts of the whole prefix: patterns * classes * kLanes
  std::vector<Count> fresh_ones_;
  std::vector<const LaneCount*> with_lane_;
  std::vector<Count> prefix_cells_;
  AlignedBuffer<LaneCount> scratch_;
};

}  // namespace

std::unique_ptr<TileSearcher> make_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                  const LevelData& data, SimdLevel level, SurvivorSink& sink,
                                                  SearchProgress& progress) {
  return std::make_unique<LevelSearcher>(problem, tables, data, lane_kernels(level), sink, progress);
}

}  // namespace interplay
