// Tiles of variables with any number of levels, any number of classes: a prefix walk that counts each level from 1 on
// of a lane, segment after segment of the samples.
//
// Bottleneck: adding up bit rows, then the bounds. Rows that have a mask are copied close together, so that those of a
// segment stay in the fastest cache while many prefixes are counted with them; lists of samples serve all registers of
// lanes that are counted together.
#include "search/level_search.hpp"

#include <algorithm>
#include <vector>

#include "rows/restricted_rows.hpp"
#include "search/level_forms.hpp"
#include "search/prefix_walk.hpp"
#include "search/tile_limits.hpp"

namespace interplay {
namespace {

// Counts of prefixes that wait for their bounds should stay in cache: of one prefix with several registers of lanes,
// and of several prefixes. Where rows are too many to be kept, so that copying them has to pay, they may be more.
constexpr Index kMostCountedBytes = Index{1} << 17;
constexpr Index kMostCountedBytesOfManyRows = Index{1} << 18;
constexpr Index kMostTogether = 64;

// Samples of a segment at most: the rows of all of them, which tables are counted with, stay in the next cache.
constexpr Index kLongestSegment = 8192;

// Rows of all masks of a prefix that are kept while its last member changes (512 KB), of all registers of lanes that
// are counted together: if they were more, these would not pay.
constexpr Index kMostKeptWords = Index{1} << 16;

template <class Form>
class LevelSearcher final : public PrefixWalk<LevelSearcher<Form>, typename Form::Job> {
  using Walk = PrefixWalk<LevelSearcher<Form>, typename Form::Job>;
  using typename Walk::Counts;
  using typename Walk::Lane;
  using typename Walk::Table;

 public:
  LevelSearcher(const SearchProblem& problem, const InformationTables& tables, const LevelData& data,
                const LaneKernels& kernels, SurvivorSink& sink, SearchProgress& progress)
      : Walk(problem, tables, data, kernels, 1, Form::n_vectors(problem.planes.n_classes()), own_trial_, sink,
             progress),
        data_(data),
        segments_(data.layout().segments),
        n_classes_(this->planes_.n_classes()),
        n_vectors_(Form::n_vectors(n_classes_)),
        own_trial_(Form::has_polynomials ? &data.model().two_classes : nullptr, progress) {
    for (const auto& of_class : segments_) {
      n_segments_ = std::max(n_segments_, static_cast<Index>(of_class.size()));
      most_in_segment_ = std::max(most_in_segment_, in_words(of_class.front().n_samples) * 64);
    }
    list_.resize(most_in_segment_ + kListMultiple);
  }

 private:
  friend Walk;
  using Walk::job_;
  using Walk::kernels_;
  using Walk::levels_;
  using Walk::n_prefix_;
  using Walk::pattern_size_;
  using Walk::planes_;
  using Walk::rows_;

  // The samples of a class and segment that have a mask and a level, listed.
  struct Listed {
    Index begin, n_padded;
  };

  static Index in_words(Index n_samples) { return (n_samples + 63) / 64; }

  // Tiles.

  Index vars_at_a_time(const std::int32_t* tile) const { return last_prefix_vars_at_a_time(this->problem_, tile); }

  Index pattern_size(const std::int32_t* tile) {
    in_register_ = LevelData::lane_stride(levels_[n_prefix_]);
    n_closed_ = 1;
    for (int m = 0; m < n_prefix_; ++m) n_closed_ *= levels_[m] - 1;
    const Index of_register = n_vectors_ * (levels_[n_prefix_] - 1) * in_register_;
    const Index room_in_tables =
        kMaxTableCounts / (table_counts_of_last_var(this->problem_, tile) * this->size_[n_prefix_ - 1]);
    registers_together_ = kMostCountedBytes / (n_closed_ * of_register * static_cast<Index>(sizeof(Lane)));
    const Index room_for_rows = kMostKeptWords / kept_words_of_register();
    registers_together_ = std::min({registers_together_, room_in_tables, room_for_rows, kLanes / in_register_});
    registers_together_ = std::clamp<Index>(registers_together_, 1, std::max<Index>(this->n_registers_left(), 1));
    return registers_together_ * of_register;
  }

  Index kept_words_of_register() const {
    return restricted_words(planes_.n_words * 64, this->n_masks_[n_prefix_ - 1] * n_segments_ * n_classes_);
  }

  void start_tile(const std::int32_t*) {
    LevelShape& shape = job_.counts.shape;
    shape.n_prefix = n_prefix_;
    shape.n_patterns = 1;
    for (int m = 0; m < n_prefix_; ++m) {
      shape.levels[m] = static_cast<int>(levels_[m]);
      shape.n_patterns *= shape.levels[m];
    }
    shape.lane_levels = static_cast<int>(levels_[n_prefix_]);
    shape.lane_stride = static_cast<int>(registers_together_ * in_register_);
    keeps_rows_ = registers_together_ * kept_words_of_register() <= kMostKeptWords;
    const Index most_bytes = keeps_rows_ ? kMostCountedBytes : kMostCountedBytesOfManyRows;
    const Index bytes = n_closed_ * pattern_size_ * static_cast<Index>(sizeof(Lane));
    together_ = std::clamp<Index>(most_bytes / bytes, 1, kMostTogether);
    fresh_.resize(together_ * n_closed_ * pattern_size_);
    fresh_ones_.resize(static_cast<std::size_t>(together_ * n_closed_ * n_vectors_));
    const std::size_t n_pointers = static_cast<std::size_t>(n_vectors_ * shape.n_patterns);
    with_lane_.resize(n_pointers);
    prefix_cells_.resize(n_pointers);
    scratch_.resize(n_classes_ * shape.n_patterns * shape.lane_levels * 16);
    job_.counts.with_lane = with_lane_.data();
    job_.counts.prefix_cells = prefix_cells_.data();
    job_.counts.scratch = scratch_.data();
    for (const bool polynomial : {false, true}) {
      kernels_by_bound_[polynomial] = Form::score_of(kernels_, data_.model(), shape, polynomial);
    }
  }

  bool next_lanes() {
    n_registers_ = this->next_single_lanes(registers_together_, in_register_);
    return n_registers_ > 0;
  }
  Index first_lane_after(Index place) const { return this->first_single_lane_after(place); }
  Index counted_together() const { return together_; }

  // Counts of tables, and of whole prefixes.

  void count_entry(Table& table, Index entry, const Word* masks, Index n, Index place) {
    const Index first = entry * table.n_patterns;
    const ListedPlaces at{masks, n, place, place + 1, place < 0 ? 2 : this->levels_at(place)};
    count_places(at, false, table.lanes.data() + first * pattern_size_, table.ones.data() + first * n_vectors_);
  }

  void bound_entry(Table& table, Index entry, int first_lane) {
    const int missing = table.n_leading;
    Counts counts = job_.counts;
    std::copy(counts.shape.levels + missing + 1, counts.shape.levels + n_prefix_, counts.shape.levels + missing);
    counts.shape.n_prefix = n_prefix_ - 1;
    counts.shape.n_patterns /= static_cast<int>(levels_[missing]);
    this->point_to(table.subset, counts);
    Form::bounds(kernels_).information(data_.model(), counts, static_cast<float>(levels_[missing]), first_lane,
                                       static_cast<int>(this->n_lanes_), table.information.data() + entry * kLanes);
  }

  void start_prefixes() {
    if (n_prefix_ == 1 || !keeps_rows_) return;
    const Index n_masks = this->n_masks_[n_prefix_ - 1];
    start_restricted(n_segments_ * n_masks * n_classes_);
    for (Index segment = 0; segment < n_segments_; ++segment) {
      for (Index i = 0; i < n_masks; ++i) restrict_to(segment, last_mask(i));
    }
  }

  void count_prefixes(Index begin, Index end) {
    const ListedPlaces places{last_mask(0), this->n_masks_[n_prefix_ - 1], begin, end, levels_[n_prefix_ - 1]};
    count_places(places, n_prefix_ > 1, fresh_.data(), fresh_ones_.data());
  }

  void select_prefix(Index i) {
    this->whole_lanes_ = fresh_.data() + i * n_closed_ * pattern_size_;
    this->whole_ones_ = fresh_ones_.data() + i * n_closed_ * n_vectors_;
  }

  // Masks, each with each level from 1 on of the variables at places begin … end − 1; begin: −1 for the masks alone.
  struct ListedPlaces {
    const Word* masks;
    Index n_masks, begin, end, n_levels;

    Index n_lists() const { return (end - begin) * (n_levels - 1); }  // per mask
  };

  const Word* last_mask(Index i) const { return this->masks_[n_prefix_ - 1].data() + i * planes_.n_words; }

  // How many samples have a mask and a level, and how many of these each bit of a row has. By variable, level and mask,
  // the latter fastest. restricted: on copies of the rows that have the mask
  void count_places(const ListedPlaces& places, bool restricted, Lane* counts, Count* ones) {
    std::fill_n(ones, places.n_lists() * places.n_masks * n_vectors_, Count{0});
    for (Index segment = 0; segment < n_segments_; ++segment) {
      for (Index i = 0; i < places.n_masks; ++i) {
        const Word* mask = places.masks + i * planes_.n_words;
        const RestrictedRows* rows = nullptr;
        if (restricted && keeps_rows_) {
          rows = restricted_.data() + (segment * places.n_masks + i) * n_classes_;
        } else if (restricted) {
          start_restricted(n_classes_);
          restrict_to(segment, mask);
          rows = restricted_.data();
        }
        list_places(places, i, segment, mask, rows, ones);
        count_listed(places, i, segment, rows, counts);
      }
    }
  }

  void list_places(const ListedPlaces& places, Index i, Index segment, const Word* mask,
                   const RestrictedRows* restricted, Count* ones) {
    const Index n_places = places.end - places.begin;
    const Index most = n_places * (most_in_segment_ + (places.n_levels - 1) * kListMultiple) + most_in_segment_;
    lists_.resize(n_classes_ * (most + kListMultiple));
    listed_.clear();
    Index at = 0;
    for (Index q = 0; q < n_classes_; ++q) {
      const RowSegment& of = segment_of(q, segment);
      const Index n_words = in_words(of.n_samples);
      Count* of_list = ones + i * n_vectors_;
      for (Index place = places.begin; place < places.end; ++place) {
        for (Index level = 1; level < places.n_levels; ++level, of_list += places.n_masks * n_vectors_) {
          const Word* plane = (place < 0 ? mask : this->plane_at(place, level)) + of.first_word;
          LaneCount* list = lists_.data() + at;
          const Index n = restricted ? kernels_.list_within(plane, mask + of.first_word, n_words, restricted[q].n_bytes,
                                                            restricted[q].n_samples, list)
                                     : kernels_.list_samples(plane, mask + of.first_word, n_words,
                                                             static_cast<LaneCount>(of.n_samples), list);
          Form::add_ones(q, n, of_list);
          listed_.push_back({at, padded(n)});
          at += padded(n);
        }
      }
    }
  }

  // Class after class, so that the rows of one stay in the fastest cache.
  void count_listed(const ListedPlaces& places, Index i, Index segment, const RestrictedRows* restricted,
                    Lane* counts) {
    const Index n_lists = places.n_lists();
    const LaneRuns runs{static_cast<int>(levels_[n_prefix_] - 1), static_cast<int>(in_register_),
                        job_.counts.shape.lane_stride};
    counted_.resize(n_classes_ * n_lists * kLanes);
    for (Index of_register = 0; of_register < n_registers_; ++of_register) {
      LaneCount* counted = counted_.data();
      const Listed* listed = listed_.data();
      for (Index q = 0; q < n_classes_; ++q) {
        const Word* rows = restricted ? restricted[q].of_register(of_register)
                                      : rows_ + of_register * data_.layout().n_words + segment_of(q, segment).start;
        for (Index list = 0; list < n_lists; ++list, ++listed, counted += kLanes) {
          kernels_.count_lanes(rows, lists_.data() + listed->begin, listed->n_padded, counted);
        }
      }
      for (Index list = 0; list < n_lists; ++list) {
        const auto of_class = [&](Index q) { return counted_.data() + (q * n_lists + list) * kLanes; };
        Lane* target = counts + (list * places.n_masks + i) * pattern_size_ + of_register * in_register_;
        Form::put(kernels_, of_class, n_classes_, runs, segment == 0, target);
      }
    }
  }

  // A class with fewer segments than others has empty ones after its last.
  RowSegment segment_of(Index q, Index segment) const {
    const std::vector<RowSegment>& of_class = segments_[q];
    if (segment < static_cast<Index>(of_class.size())) return of_class[segment];
    return {of_class.back().first_word, 0, of_class.back().start};
  }

  void start_restricted(Index n) {
    restricted_.clear();
    restricted_.reserve(static_cast<std::size_t>(n));
    const Index n_samples = keeps_rows_ ? planes_.n_words * 64 : n_classes_ * most_in_segment_;
    restricted_rows_.resize(n_registers_ * restricted_words(n_samples, n));
    next_restricted_ = restricted_rows_.data();
  }

  void restrict_to(Index segment, const Word* mask) {
    for (Index q = 0; q < n_classes_; ++q) {
      const RowSegment of = segment_of(q, segment);
      restricted_.push_back(restrict_rows(kernels_, mask + of.first_word, in_words(of.n_samples), rows_ + of.start,
                                          n_registers_, data_.layout().n_words, list_.data(), next_restricted_));
    }
  }

  // Bounds.

  void point(Counts&, Index i, Index n, const Lane* lanes, const Count* ones) {
    const Index vector_size = pattern_size_ / n_vectors_;
    for (Index v = 0; v < n_vectors_; ++v) {
      with_lane_[v * n + i] = lanes + v * vector_size;
      prefix_cells_[v * n + i] = ones[v];
    }
  }

  void close_prefix(Counts& counts, int n_members) {
    const auto levels_of = [&](int member) { return counts.shape.levels[member]; };
    for (Index v = 0; v < n_vectors_; ++v) {
      patterns_to_cells(prefix_cells_.data() + v * counts.shape.n_patterns, 0, n_members, levels_of);
    }
  }

  void bound_parts() { this->scorer_.set_without_part(LevelForm{job_.counts, n_vectors_}); }

  void score_lanes() {
    this->scorer_.score(kernels_by_bound_[own_trial_.use_polynomial()], data_.model(), job_,
                        LevelForm{job_.counts, n_vectors_});
  }

  const LevelData& data_;
  const std::vector<std::vector<RowSegment>>& segments_;  // [class]
  const Index n_classes_, n_vectors_;
  BoundTrial own_trial_;
  Index n_segments_ = 0, most_in_segment_ = 0;

  // The tile at hand.
  Index in_register_ = 0;         // lanes of a register
  Index registers_together_ = 1;  // that are counted together, at most
  Index n_registers_ = 0;         // and now
  Index n_closed_ = 1;            // patterns of the prefix that leave no member open
  Index together_ = 1;            // prefixes that are counted together
  bool keeps_rows_ = false;
  decltype(Form::score_of(std::declval<const LaneKernels&>(), std::declval<const LevelModel&>(),
                          std::declval<const LevelShape&>(), false)) kernels_by_bound_[2]{};  // [polynomial]

  AlignedBuffer<LaneCount> list_, lists_, counted_;  // counted_: [class][list] * kLanes
  std::vector<Listed> listed_;                       // [class][variable][level]
  std::vector<RestrictedRows> restricted_;           // [segment][mask][class]
  AlignedBuffer<Word> restricted_rows_;
  Word* next_restricted_ = nullptr;
  AlignedBuffer<Lane> fresh_;  // counts of whole prefixes: prefixes * patterns * pattern_size_
  std::vector<Count> fresh_ones_;
  std::vector<const Lane*> with_lane_;
  std::vector<Count> prefix_cells_;
  AlignedBuffer<Lane> scratch_;
};

}  // namespace

Index segment_samples(const SearchProblem& problem) {
  // The rows of 1024 samples fill the fastest cache. Of a segment, those are added up that have a level of each member
  // of the prefix but its last: the fewer, the more members there are and the more levels they have.
  Index n_levels = kMaxLaneLevels;
  for (const Index row : problem.blocks.order) n_levels = std::min(n_levels, problem.planes.n_levels[row]);
  Index n_samples = 1024;
  for (Index member = 2; member < problem.tiles.dimensions && n_samples < kLongestSegment; ++member) {
    n_samples *= n_levels;
  }
  return std::min(n_samples, kLongestSegment);
}

std::unique_ptr<TileSearcher> make_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                  const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                  SearchProgress& progress) {
  if (problem.planes.n_classes() == 2) {
    return std::make_unique<LevelSearcher<PairedForm>>(problem, tables, data, kernels, sink, progress);
  }
  return std::make_unique<LevelSearcher<SeparateForm>>(problem, tables, data, kernels, sink, progress);
}

std::unique_ptr<TileSearcher> make_wide_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                 const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                 SearchProgress& progress) {
  return std::make_unique<LevelSearcher<WideForm>>(problem, tables, data, kernels, sink, progress);
}

}  // namespace interplay
