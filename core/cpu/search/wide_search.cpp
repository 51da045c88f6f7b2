// Tiles of variables with any number of levels, any number of classes, of any number of samples: a prefix walk that
// counts segment after segment of the samples and adds up.
//
// Bottleneck: adding up bit rows. Those of a segment stay in cache while many prefixes are counted with them.
#include "search/wide_search.hpp"

#include <algorithm>

#include "rows/restricted_rows.hpp"
#include "search/prefix_walk.hpp"
#include "search/tile_limits.hpp"

namespace interplay {
namespace {

// Counts of a class that are added to while its segments are gone through: of so many patterns (1 KB each), so that
// they stay in cache beside the rows.
constexpr Index kPatternsTogether = 128;

class WideSearcher final : public PrefixWalk<WideSearcher, WideScoreJob> {
 public:
  WideSearcher(const SearchProblem& problem, const InformationTables& tables, const LevelData& data,
               const LaneKernels& kernels, SurvivorSink& sink, SearchProgress& progress)
      : PrefixWalk(problem, tables, data, kernels, 1, problem.planes.n_classes(), problem.planes.n_classes(),
                   own_trial_, sink, progress),
        data_(data),
        n_classes_(planes_.n_classes()),
        own_trial_(nullptr, progress) {
    Index most = 0;
    for (const auto& of_class : data.layout().segments) most = std::max(most, of_class.front().n_samples);
    list_.resize(in_words(most) * 64 + kListMultiple);
    of_segment_.resize(kLanes);
    restricted_rows_.resize(restricted_words(in_words(most) * 64, 1));
  }

 private:
  friend PrefixWalk;

  static Index in_words(Index n_samples) { return (n_samples + 63) / 64; }

  Index counted_together() const { return std::clamp<Index>(kPatternsTogether / n_closed_, 1, 64); }
  Index vars_at_a_time(const std::int32_t* tile) const { return last_prefix_vars_at_a_time(problem_, tile); }

  void start_tile(const std::int32_t*) {
    LevelShape& shape = job_.counts.shape;
    shape.n_prefix = n_prefix_;
    shape.n_patterns = 1;
    n_closed_ = 1;
    for (int m = 0; m < n_prefix_; ++m) {
      shape.levels[m] = static_cast<int>(levels_[m]);
      shape.n_patterns *= shape.levels[m];
      n_closed_ *= levels_[m] - 1;
    }
    shape.lane_levels = static_cast<int>(levels_[n_prefix_]);
    shape.lane_stride = static_cast<int>(LevelData::lane_stride(levels_[n_prefix_]));
    fresh_.resize(counted_together() * n_closed_ * n_classes_ * kLanes);
    fresh_ones_.resize(static_cast<std::size_t>(counted_together() * n_closed_ * n_classes_));
    const std::size_t n_pointers = static_cast<std::size_t>(n_classes_ * shape.n_patterns);
    with_lane_.resize(n_pointers);
    prefix_cells_.resize(n_pointers);
    scratch_.resize(shape.n_patterns * shape.lane_levels * n_classes_ * 16);
    job_.counts.with_lane = with_lane_.data();
    job_.counts.prefix_cells = prefix_cells_.data();
    job_.counts.scratch = scratch_.data();
    score_ = kernels_.wide.score_of(static_cast<int>(n_classes_));
  }

  bool next_lanes() { return next_single_lanes(); }
  Index first_lane_after(Index place) const { return first_single_lane_after(place); }

  // Masks with each level from 1 on of the variable at `place` (the masks alone if there is none).
  void count_entry(Table& table, Index entry, const Word* masks, Index n, Index place) {
    const Index first = entry * table.n_patterns * n_classes_;
    count_places(masks, n, place, place + 1, table.lanes.data() + first * kLanes, table.ones.data() + first);
  }

  void bound_entry(Table& table, Index entry, int first_lane) {
    const int missing = table.n_leading;
    WideCounts counts = job_.counts;
    std::copy(counts.shape.levels + missing + 1, counts.shape.levels + n_prefix_, counts.shape.levels + missing);
    counts.shape.n_prefix = n_prefix_ - 1;
    counts.shape.n_patterns /= static_cast<int>(levels_[missing]);
    point_to(table.subset, counts);
    kernels_.wide.information(data_.model(), counts, static_cast<float>(levels_[missing]), first_lane,
                              static_cast<int>(n_lanes_), table.information.data() + entry * kLanes);
  }

  void start_prefixes() const {}

  void count_prefixes(Index begin, Index end) {
    const Index n_masks = n_masks_[n_prefix_ - 1];
    count_places(masks_[n_prefix_ - 1].data(), n_masks, begin, end, fresh_.data(), fresh_ones_.data());
  }

  // For each variable at places begin … end − 1, each of its levels from 1 on, and each mask: the samples that have
  // both, and how many of these each bit of a row has. Class after class, segment after segment.
  // begin: −1 for the masks alone
  void count_places(const Word* masks, Index n_masks, Index begin, Index end, float* counts, Count* ones) {
    const Index n_levels = begin < 0 ? 2 : levels_at(begin);
    const Index n_patterns = (end - begin) * (n_levels - 1) * n_masks;
    std::fill_n(counts, n_patterns * n_classes_ * kLanes, 0.0f);
    std::fill_n(ones, n_patterns * n_classes_, Count{0});
    for (Index q = 0; q < n_classes_; ++q) {
      for (const RowSegment& segment : data_.layout().segments[q]) {
        for (Index i = 0; i < n_masks; ++i) {
          const Word* mask = masks + i * planes_.n_words + segment.first_word;
          const Index n_words = in_words(segment.n_samples);
          Word* target = restricted_rows_.data();
          const RestrictedRows restricted =
              restrict_rows(kernels_, mask, n_words, rows_ + segment.start, list_.data(), target);
          if (restricted.n_samples == 0) continue;
          for (Index place = begin; place < end; ++place) {
            for (Index level = 1; level < n_levels; ++level) {
              const Word* plane = begin < 0 ? mask : plane_at(place, level) + segment.first_word;
              const Index at = (((place - begin) * (n_levels - 1) + level - 1) * n_masks + i) * n_classes_ + q;
              const Index n =
                  kernels_.list_within(plane, mask, n_words, restricted.n_bytes, restricted.n_samples, list_.data());
              ones[at] += static_cast<Count>(n);
              kernels_.count_lanes(restricted.rows, list_.data(), padded(n), of_segment_.data());
              kernels_.wide.add(of_segment_.data(), counts + at * kLanes);
            }
          }
        }
      }
    }
  }

  void select_prefix(Index i) {
    whole_lanes_ = fresh_.data() + i * n_closed_ * n_classes_ * kLanes;
    whole_ones_ = fresh_ones_.data() + i * n_closed_ * n_classes_;
  }

  void point(WideCounts&, Index i, Index n, const float* lanes, const Count* ones) {
    for (Index q = 0; q < n_classes_; ++q) {
      with_lane_[q * n + i] = lanes + q * kLanes;
      prefix_cells_[q * n + i] = ones[q];
    }
  }

  void close_prefix(WideCounts& counts, int n_members) {
    const auto levels_of = [&](int member) { return counts.shape.levels[member]; };
    for (Index q = 0; q < n_classes_; ++q) {
      patterns_to_cells(prefix_cells_.data() + q * counts.shape.n_patterns, 0, n_members, levels_of);
    }
  }

  void bound_parts() { scorer_.set_without_part(LevelForm{job_.counts, n_classes_}); }
  void score_lanes() { scorer_.score(score_, data_.model(), job_, LevelForm{job_.counts, n_classes_}); }

  const LevelData& data_;
  const Index n_classes_;
  BoundTrial own_trial_;  // there is one bound only
  WideScoreKernel score_ = nullptr;
  Index n_closed_ = 1;  // patterns of the prefix that leave no member open

  AlignedBuffer<LaneCount> list_, of_segment_;
  AlignedBuffer<Word> restricted_rows_;
  AlignedBuffer<float> fresh_;  // counts of prefixes: prefixes * patterns * classes * kLanes
  std::vector<Count> fresh_ones_;
  std::vector<const float*> with_lane_;
  std::vector<Count> prefix_cells_;
  AlignedBuffer<float> scratch_;
};

}  // namespace

Index segment_samples(const SearchProblem& problem) {
  // The rows of half of the samples of 2048 fill the fastest cache; of longer prefixes there are fewer samples in each.
  return Index{2048} << std::clamp<Index>(problem.tiles.dimensions - 3, 0, 2);
}

std::unique_ptr<TileSearcher> make_wide_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                 const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                 SearchProgress& progress) {
  return std::make_unique<WideSearcher>(problem, tables, data, kernels, sink, progress);
}

}  // namespace interplay
