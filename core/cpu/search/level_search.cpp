// Tiles of variables with any number of levels, any number of classes: a prefix walk that counts each level from 1 on
// of a lane.
//
// Bottleneck: counting, then the bounds. Counts of prefixes wait for their bounds: counts that are no longer in cache
// make both slower.
#include "search/level_search.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "search/level_counter.hpp"
#include "search/level_forms.hpp"
#include "search/prefix_walk.hpp"
#include "search/sum_counter.hpp"
#include "search/tile_limits.hpp"

namespace interplay {
namespace {

// Counts of prefixes that wait for their bounds should stay in cache: of one prefix with several registers of lanes,
// and of several prefixes. Where rows are too many to be kept, so that copying them has to pay, they may be more.
constexpr Index kMostCountedBytes = Index{1} << 17;
constexpr Index kMostCountedBytesOfManyRows = Index{1} << 18;
constexpr Index kMostTogether = 64;
// Weighted popcounts gain little from more, and count lanes that come before the later prefixes. Their masks should
// stay in the fastest cache.
constexpr Index kMostTogetherOfSums = 16;
constexpr Index kMostMaskWords = Index{1} << 11;

// Bytes pay while at most one in kMostCountedAgain prefixes is counted again because a byte does not hold its counts,
// and, before any prefix is counted, while the largest cell of a class has at most kMostExpected samples in the mean.
constexpr Index kMostCountedAgain = 8;
constexpr double kMostExpected = 230;

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
        n_vectors_(Form::n_vectors(this->planes_.n_classes())),
        own_trial_(Form::has_polynomials ? &data.model().two_classes : nullptr, progress),
        counter_(problem, data, kernels) {}

 private:
  friend Walk;
  using Walk::job_;
  using Walk::kernels_;
  using Walk::levels_;
  using Walk::n_prefix_;
  using Walk::pattern_size_;
  using Walk::planes_;
  static constexpr bool is_of_sums = std::is_same_v<Form, SumForm>;
  using Counter = std::conditional_t<is_of_sums, SumCounter, LevelCounter<Form>>;
  using Listed = typename Counter::Places;

  // Tiles.

  Index vars_at_a_time(const std::int32_t* tile) const { return last_prefix_vars_at_a_time(this->problem_, tile); }

  Index pattern_size(const std::int32_t* tile) {
    in_register_ = LevelData::lane_stride(levels_[n_prefix_]);
    n_closed_ = 1;
    for (int m = 0; m < n_prefix_; ++m) n_closed_ *= levels_[m] - 1;
    if constexpr (Form::has_bytes) {
      in_bytes_ = counter_.counts_at_once() && Form::takes_bytes(planes_.class_sizes, shape_of_tile()) &&
                  n_counted_again_ * kMostCountedAgain <= n_met_in_bytes_ && largest_cell() < kMostExpected;
    }
    const Index of_register = n_vectors_ * (levels_[n_prefix_] - 1) * in_register_;
    const Index room_in_tables =
        kMaxTableCounts / (table_counts_of_last_var(this->problem_, tile) * this->size_[n_prefix_ - 1]);
    registers_together_ = kMostCountedBytes / (n_closed_ * of_register * bytes_of_count());
    const Index room_for_rows = kMostKeptWords / counter_.kept_words(this->n_masks_[n_prefix_ - 1]);
    registers_together_ = std::min({registers_together_, room_in_tables, room_for_rows, kLanes / in_register_});
    registers_together_ = std::clamp<Index>(registers_together_, 1, std::max<Index>(this->n_registers_left(), 1));
    return registers_together_ * of_register;
  }

  // Samples of a class that the largest cell of two members has, if these are typical of their blocks and have nothing
  // to do with one another.
  double largest_cell() const {
    double largest = 0;
    for (Index q = 0; q < planes_.n_classes(); ++q) {
      double of_class = static_cast<double>(planes_.class_sizes[q]);
      for (int m = 0; m < 2; ++m) of_class *= commonest_level(m, q);
      largest = std::max(largest, of_class);
    }
    return largest;
  }

  // The share of a class that has its commonest level of a variable: the mean over the block of a member.
  double commonest_level(int member, Index q) const {
    const Index begin = planes_.class_word_start[q], end = planes_.class_word_start[q + 1];
    Index sum = 0;
    for (Index place = this->begin_[member]; place < this->begin_[member] + this->size_[member]; ++place) {
      Index rest = planes_.class_sizes[q], most = 0;
      for (Index level = 1; level < levels_[member]; ++level) {
        const Word* plane = this->plane_at(place, level);
        Index n = 0;
        for (Index w = begin; w < end; ++w) n += std::popcount(plane[w]);
        rest -= n;
        most = std::max(most, n);
      }
      sum += std::max(most, rest);
    }
    return static_cast<double>(sum) / static_cast<double>(this->size_[member] * planes_.class_sizes[q]);
  }

  Index bytes_of_count() const { return static_cast<Index>(in_bytes_ ? sizeof(BytePair) : sizeof(Lane)); }

  LevelShape shape_of_tile() const {
    LevelShape shape{};
    shape.n_prefix = n_prefix_;
    shape.n_patterns = 1;
    for (int m = 0; m < n_prefix_; ++m) {
      shape.levels[m] = static_cast<int>(levels_[m]);
      shape.n_patterns *= shape.levels[m];
    }
    shape.lane_levels = static_cast<int>(levels_[n_prefix_]);
    shape.lane_stride = static_cast<int>(registers_together_ * in_register_);
    return shape;
  }

  void start_tile(const std::int32_t*) {
    job_.counts.shape = shape_of_tile();
    const LevelShape& shape = job_.counts.shape;
    const Index kept_words = registers_together_ * counter_.kept_words(this->n_masks_[n_prefix_ - 1]);
    const bool keeps_rows = kept_words <= kMostKeptWords;
    counter_.start_tile({shape.lane_levels - 1, static_cast<int>(in_register_), shape.lane_stride}, pattern_size_,
                        keeps_rows);
    const Index most_bytes = keeps_rows ? kMostCountedBytes : kMostCountedBytesOfManyRows;
    const Index bytes = n_closed_ * pattern_size_ * bytes_of_count();
    together_ = std::clamp<Index>(most_bytes / bytes, 1, kMostTogether);
    if constexpr (is_of_sums) {
      const Index fit = std::clamp<Index>(kMostMaskWords / (n_closed_ * planes_.n_words), 1, kMostTogetherOfSums);
      together_ = std::min(together_, fit);
    }
    // In bytes, one prefix may have to be counted again.
    fresh_.resize((in_bytes_ ? 1 : together_) * n_closed_ * pattern_size_);
    if (in_bytes_) byte_fresh_.resize(together_ * n_closed_ * pattern_size_);
    fresh_ones_.resize(static_cast<std::size_t>(together_ * n_closed_ * n_vectors_));
    const std::size_t n_pointers = static_cast<std::size_t>(n_vectors_ * shape.n_patterns);
    with_lane_.resize(n_pointers);
    prefix_cells_.resize(n_pointers);
    scratch_.resize(planes_.cell_size() * shape.n_patterns * shape.lane_levels * 16);
    job_.counts.with_lane = with_lane_.data();
    job_.counts.prefix_cells = prefix_cells_.data();
    job_.counts.scratch = scratch_.data();
    for (const bool polynomial : {false, true}) {
      kernels_by_bound_[polynomial] = Form::score_of(kernels_, data_.model(), shape, polynomial);
      if constexpr (Form::has_bytes) {
        byte_kernels_by_bound_[polynomial] = Form::score_small_of(kernels_, data_.model(), polynomial);
      }
    }
  }

  bool next_lanes() {
    const Index n_registers = this->next_single_lanes(registers_together_, in_register_);
    counter_.set_lanes(this->rows_, n_registers);
    if constexpr (is_of_sums) counter_.set_members(this->scorer_.lane_members, this->n_lanes_);
    return n_registers > 0;
  }
  Index first_lane_after(Index place) const { return this->first_single_lane_after(place); }
  // The first lane that comes after a place, or its register.
  Index first_to_count(Index place) const {
    const Index lane = place < 0 ? 0 : first_lane_after(place);
    return is_of_sums ? lane : lane / in_register_;
  }

  // Counts of tables, and of whole prefixes.

  void count_entry(Table& table, Index entry, const Word* masks, Index n, Index place) {
    const Index first = entry * table.n_patterns;
    const Listed at{masks, n, place, place + 1, place < 0 ? 2 : this->levels_at(place), first_to_count(place)};
    counter_.count(at, table.lanes.data() + first * pattern_size_, table.ones.data() + first * n_vectors_);
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

  Index start_prefixes() {
    if (n_prefix_ > 1) counter_.set_masks(this->masks_[n_prefix_ - 1].data(), this->n_masks_[n_prefix_ - 1]);
    return together_;
  }

  // The prefixes that end at these places.
  Listed prefixes(Index begin, Index end) const {
    const int last = n_prefix_ - 1;
    return {this->masks_[last].data(), this->n_masks_[last], begin, end, levels_[last], first_to_count(begin)};
  }

  void count_prefixes(Index begin, Index end) {
    if constexpr (Form::has_bytes) {
      if (in_bytes_) {
        counter_.count_bytes(prefixes(begin, end), byte_fresh_.data(), fresh_ones_.data());
        return;
      }
    }
    if (n_prefix_ > 1) {
      counter_.count_restricted(prefixes(begin, end), fresh_.data(), fresh_ones_.data());
    } else {
      counter_.count(prefixes(begin, end), fresh_.data(), fresh_ones_.data());
    }
  }

  void select_prefix(Index i) {
    this->whole_lanes_ = fresh_.data() + (in_bytes_ ? 0 : i * n_closed_ * pattern_size_);
    this->whole_ones_ = fresh_ones_.data() + i * n_closed_ * n_vectors_;
    if constexpr (Form::has_bytes) {
      job_.counts.whole = in_bytes_ ? byte_fresh_.data() + i * n_closed_ * pattern_size_ : nullptr;
    }
  }

  // Counts in bytes are those of a prefix whose cells have at most 255 samples of a class; else count it again.
  void count_again_if_large() {
    if constexpr (Form::has_bytes) {
      if (!job_.counts.whole) return;
      ++n_met_in_bytes_;
      const auto is_large = [](ClassCounts cell) { return (cell & 0xff00ff00) != 0; };
      if (std::none_of(prefix_cells_.begin(), prefix_cells_.end(), is_large)) return;
      ++n_counted_again_;
      job_.counts.whole = nullptr;
      const Index place = this->place_of(n_prefix_ - 1);
      again_ones_.resize(static_cast<std::size_t>(n_closed_));
      counter_.count_restricted(prefixes(place, place + 1), fresh_.data(), again_ones_.data());
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

  void score_lanes() {
    this->scorer_.set_without_part(LevelReader{job_.counts, n_vectors_});
    count_again_if_large();
    auto kernel = kernels_by_bound_[own_trial_.use_polynomial()];
    if constexpr (Form::has_bytes) {
      if (job_.counts.whole) kernel = byte_kernels_by_bound_[own_trial_.use_polynomial()];
    }
    this->scorer_.score(kernel, data_.model(), job_, LevelReader{job_.counts, n_vectors_});
  }

  const LevelData& data_;
  const Index n_vectors_;
  BoundTrial own_trial_;
  Counter counter_;

  // The tile at hand.
  Index in_register_ = 0;                           // lanes of a register
  Index registers_together_ = 1;                    // that are counted together, at most
  Index n_closed_ = 1;                              // patterns of the prefix that leave no member open
  Index together_ = 1;                              // prefixes that are counted together
  bool in_bytes_ = false;                           // counts of whole prefixes
  Index n_met_in_bytes_ = 0, n_counted_again_ = 0;  // prefixes, so far
  using Kernel = decltype(Form::score_of(std::declval<const LaneKernels&>(), std::declval<const LevelModel&>(),
                                         std::declval<const LevelShape&>(), false));
  Kernel kernels_by_bound_[2]{}, byte_kernels_by_bound_[2]{};  // [polynomial]

  AlignedBuffer<Lane> fresh_;           // counts of whole prefixes: prefixes * patterns * pattern_size_
  AlignedBuffer<BytePair> byte_fresh_;  // the same in bytes
  std::vector<Count> fresh_ones_, again_ones_;
  std::vector<const Lane*> with_lane_;
  std::vector<Count> prefix_cells_;
  AlignedBuffer<Lane> scratch_;
};

}  // namespace

Index segment_samples(const SearchProblem& problem) {
  // The rows of 1024 samples fill the fastest cache. The rows of a segment that are added up have a level of each
  // member of the prefix but its last: the more members and levels, the fewer rows.
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

std::unique_ptr<TileSearcher> make_sum_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                const LevelData& data, const LaneKernels& kernels, SurvivorSink& sink,
                                                SearchProgress& progress) {
  return std::make_unique<LevelSearcher<SumForm>>(problem, tables, data, kernels, sink, progress);
}

}  // namespace interplay
