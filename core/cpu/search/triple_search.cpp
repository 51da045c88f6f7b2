// Tuples whose last three variables are in a small block at the end of the order: there are few of these for each
// prefix of all but the last two variables, but the triples of the block meet a prefix all at once.
#include <array>
#include <vector>

#include "interplay/bit_planes.hpp"
#include "rows/sample_lists.hpp"
#include "rows/triple_lanes.hpp"
#include "search/survivor_scorer.hpp"
#include "search/two_level_search.hpp"

namespace interplay {
namespace {

// Counts and bounds of some variables of the prefix, all at 1, with the variables of the block.
struct PrefixCounts {
  alignas(64) std::array<ClassCounts, 2 * kLanes> lanes;                       // triples, pairs, single variables
  alignas(64) std::array<std::array<ClassCounts, kTripleRoom>, 6> of_triples;  // with some parts of each triple
  alignas(64) std::array<std::array<ClassCounts, kPairRoom>, 2> of_pairs;      // with one part of each pair
  alignas(64) std::array<float, kTripleRoom> information;                      // with each triple, a lower bound
  ClassCounts ones;
};

class TripleSearcher final : public TileSearcher {
 public:
  TripleSearcher(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                 const LaneKernels& kernels, BoundTrial& trial, SurvivorSink& sink, SearchProgress& progress)
      : problem_(problem),
        data_(data),
        kernels_(kernels),
        trial_(trial),
        progress_(progress),
        lists_(problem.planes, data, kernels),
        scorer_(problem, tables, 3, trial, sink, job_),
        triples_(problem, data, kernels),
        n_prefix_(scorer_.n_prefix),
        full_((1 << n_prefix_) - 1) {
    SurvivorScorer::Levels levels{};
    std::fill_n(levels.begin(), n_prefix_ + 3, 2);
    scorer_.start_tile(levels);
    lists_.make_room(0);
    all_samples_.resize(problem.planes.n_words);
    mask_all_samples(problem.planes, all_samples_.data());
  }

  bool search(const std::int32_t* tile) override {
    set_up(problem_.block_begin(tile, n_prefix_), problem_.block_end(tile, n_prefix_));
    scorer_.start_lanes(false, triples_.n_triples);
    stopped_ = false;
    const Index end = problem_.block_end(tile, 0);
    for (Index first = problem_.block_begin(tile, 0); first < end && !stopped_; ++first) {
      if (n_prefix_ == 1) {
        meet_triples({first, first});
        continue;
      }
      const Index end_of_second = problem_.block_end(tile, 1);
      Index second = std::max(problem_.block_begin(tile, 1), first + 1);
      for (; second < end_of_second && !stopped_; ++second) meet_triples({first, second});
    }
    progress_.tuples_done.fetch_add(tuples_, std::memory_order_relaxed);
    tuples_ = 0;
    return !stopped_;
  }

 private:
  void set_up(Index begin, Index end) {
    if (begin == begin_ && end == end_) return;
    begin_ = begin;
    end_ = end;
    triples_.set_up(begin, end, scorer_.lane_members);
    of_var_.resize(end);
    known_.assign(static_cast<std::size_t>(end), 0);
    count_lanes(all_samples_.data(), all_samples_.data(), 0, of_none_);
    if (n_prefix_ == 1) {
      LaneCounts counts;
      point_to(of_none_, 0, counts);
      bound_information(3, 0, counts, 0, triples_.n_triples, of_none_.information.data());
    }
  }

  // Count the lanes in the samples of a & b, and spread the counts out to triples from some on.
  void count_lanes(const Word* a, const Word* b, int from, PrefixCounts& target) {
    lists_.clear();
    const ListedSamples listed = lists_.make(a, b);
    target.ones = listed.ones;
    ClassCounts* lanes = target.lanes.data();
    for (int half = 0; half < 2; ++half) lists_.count(listed, triples_.rows(half), lanes + half * kLanes);
    auto& of = target.of_triples;
    triples_.spread_to_triples(lanes + kSinglesBegin, from, of[0].data(), of[1].data(), of[3].data());
    triples_.spread_pairs(lanes + kPairsBegin, from, of[2].data(), of[4].data(), of[5].data());
    triples_.spread_to_pairs(lanes + kSinglesBegin, target.of_pairs[0].data(), target.of_pairs[1].data());
  }

  // Counts and bounds of one variable of the prefix.
  const PrefixCounts& of_var(Index place) {
    PrefixCounts& target = of_var_.data()[place];
    if (known_[place]) return target;
    known_[place] = 1;
    const int from = triples_.first_triple_after(place);
    count_lanes(plane_at(place), plane_at(place), from, target);
    if (n_prefix_ == 2) {
      LaneCounts counts;
      point_to(of_none_, 0, counts);
      point_to(target, 1, counts);
      patterns_to_cells(counts.prefix_cells, 0, 1, TwoLevels{});
      bound_information(3, 1, counts, from, triples_.n_triples, target.information.data());
    }
    return target;
  }

  // Let a subset of the prefix have these counts.
  static void point_to(const PrefixCounts& from, int subset, LaneCounts& counts) {
    for (int family = 0; family < 6; ++family) counts.with_lane[family][subset] = from.of_triples[family].data();
    counts.with_lane[6][subset] = from.lanes.data();
    counts.prefix_cells[subset] = from.ones;
  }

  void bound_information(int n_parts, int n_members, const LaneCounts& counts, int first, int last, float* lower) {
    kernels_.information_of(data_.model(), trial_.use_polynomial(), n_parts, n_members)(data_.model(), counts, first,
                                                                                        last, lower);
  }

  const Word* plane_at(Index place) const { return problem_.planes.plane(problem_.blocks.order[place], 1); }

  // A prefix is chosen, by its places: count, bound, score.
  void meet_triples(std::array<Index, 2> prefix) {
    const Index last = prefix[n_prefix_ - 1];
    job_.first_lane = triples_.first_triple_after(last);
    job_.last_lane = triples_.n_triples;
    if (job_.first_lane >= job_.last_lane) return;
    // By subset of the prefix.
    std::array<const PrefixCounts*, 4> known{&of_none_, &of_var(prefix[0])};
    if (n_prefix_ == 2) {
      known[2] = &of_var(prefix[1]);
      count_lanes(plane_at(prefix[0]), plane_at(prefix[1]), job_.first_lane, of_both_);
      known[3] = &of_both_;
    }
    for (int subset = 0; subset <= full_; ++subset) point_to(*known[subset], subset, job_.counts);
    patterns_to_cells(job_.counts.prefix_cells, 0, n_prefix_, TwoLevels{});
    for (int member = 0; member < n_prefix_; ++member) {
      const PrefixCounts& without = *known[full_ & ~(1 << member)];
      scorer_.set_member(member, problem_.blocks.order[prefix[member]], without.information.data());
    }
    // Without a part of a triple, the prefix and a pair are left.
    LaneCounts with_pairs;
    std::copy_n(job_.counts.prefix_cells, full_ + 1, with_pairs.prefix_cells);
    for (int subset = 0; subset <= full_; ++subset) {
      for (int part = 0; part < 2; ++part) with_pairs.with_lane[part][subset] = known[subset]->of_pairs[part].data();
      with_pairs.with_lane[2][subset] = known[subset]->lanes.data() + kPairsBegin;
    }
    bound_information(2, n_prefix_, with_pairs, triples_.first_pair_after(last), triples_.n_pairs, of_pairs_.data());
    auto& without = scorer_.without_part;
    triples_.spread_pairs(of_pairs_.data(), job_.first_lane, without[2].data(), without[1].data(), without[0].data());
    const ScoreKernel kernel = kernels_.score_of(data_.model(), trial_.use_polynomial(), 3, n_prefix_);
    scorer_.score(kernel, data_.model(), job_, TwoLevelReader{job_.counts});
    tuples_ += static_cast<std::uint64_t>(job_.last_lane - job_.first_lane);
    stopped_ = progress_.stop.load(std::memory_order_relaxed);
  }

  const SearchProblem& problem_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  BoundTrial& trial_;
  SearchProgress& progress_;
  SampleLists lists_;
  LaneScoreJob job_{};
  SurvivorScorer scorer_;
  TripleLanes triples_;
  const int n_prefix_;  // one or two variables
  const int full_;      // the subset that is the whole prefix
  AlignedBuffer<Word> all_samples_;

  Index begin_ = -1, end_ = -1;  // the block at hand
  PrefixCounts of_none_, of_both_;
  AlignedBuffer<PrefixCounts> of_var_;
  std::vector<std::uint8_t> known_;
  std::array<float, kPairRoom> of_pairs_{};  // lower bounds of the information of the prefix with each pair
  bool stopped_ = false;
  std::uint64_t tuples_ = 0;
};

}  // namespace

std::unique_ptr<TileSearcher> make_triple_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                   const TwoLevelData& data, const LaneKernels& kernels,
                                                   BoundTrial& trial, SurvivorSink& sink, SearchProgress& progress) {
  return std::make_unique<TripleSearcher>(problem, tables, data, kernels, trial, sink, progress);
}

}  // namespace interplay
