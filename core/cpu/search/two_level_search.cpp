// Two-level, two-class tiles: what a lane is, tile by tile.
#include <cmath>

#include "search/two_level_searchers.hpp"

namespace interplay {
namespace {

// Pairs pay where they fill the registers this much better: they are counted with longer lists.
constexpr double kPairsMustSave = 1.5;

class TwoLevelChooser final : public TileSearcher {
 public:
  TwoLevelChooser(const SearchProblem& problem, const InformationTables& tables, const TwoLevelData& data,
                  const LaneKernels& kernels, SurvivorSink& sink, SearchProgress& progress)
      : problem_(problem),
        trial_(&data.model(), progress),
        single_(make_table_searcher(problem, tables, data, kernels, 1, trial_, sink, progress)) {
    const Index k = problem.tiles.dimensions;
    if (k > 2) pairs_ = make_table_searcher(problem, tables, data, kernels, 2, trial_, sink, progress);
    if (k > 3) triples_ = make_triple_searcher(problem, tables, data, kernels, trial_, sink, progress);
  }

  bool takes(const std::int32_t* tile) const override {
    return single_->takes(tile) || (pairs_ && pairs_->takes(tile)) || (triples_ && triples_->takes(tile));
  }

  bool search(const std::int32_t* tile) override {
    if (triples_ && triples_->takes(tile)) return triples_->search(tile);
    const bool use_pairs = pairs_ && pairs_->takes(tile) && (pairs_pay(tile) || !single_->takes(tile));
    return use_pairs ? pairs_->search(tile) : single_->search(tile);
  }

 private:
  bool pairs_pay(const std::int32_t* tile) const {
    const Index k = problem_.tiles.dimensions;
    const Index first_begin = problem_.block_begin(tile, k - 2), first_end = problem_.block_end(tile, k - 2);
    const Index lane_begin = problem_.block_begin(tile, k - 1), lane_end = problem_.block_end(tile, k - 1);
    Index n_pairs = 0;
    for (Index first = first_begin; first < first_end; ++first) n_pairs += lane_end - std::max(lane_begin, first + 1);
    const double n_sets = std::ceil(static_cast<double>(n_pairs) / static_cast<double>(kLanes));
    return n_sets * kPairsMustSave < static_cast<double>(first_end - first_begin);
  }

  const SearchProblem& problem_;
  BoundTrial trial_;
  std::unique_ptr<TileSearcher> single_, pairs_, triples_;
};

}  // namespace

std::unique_ptr<TileSearcher> make_two_level_searcher(const SearchProblem& problem, const InformationTables& tables,
                                                      const TwoLevelData& data, SimdLevel level, SurvivorSink& sink,
                                                      SearchProgress& progress) {
  return std::make_unique<TwoLevelChooser>(problem, tables, data, lane_kernels(level), sink, progress);
}

}  // namespace interplay
