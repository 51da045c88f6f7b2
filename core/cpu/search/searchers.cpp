#include "search/searchers.hpp"

#include "search/level_search.hpp"
#include "search/two_level_search.hpp"

namespace interplay {

const TwoLevelData& SharedRows::of_two_levels() {
  std::call_once(two_level_once_, [&] { two_level_.emplace(problem_, kernels_); });
  return *two_level_;
}

const LevelData& SharedRows::of_levels() {
  std::call_once(level_once_, [&] {
    level_.emplace(problem_, kernels_, SampleRowLayout(problem_.planes, segment_samples(problem_)));
  });
  return *level_;
}

TileSearcher& Searchers::operator[](Searcher searcher) {
  std::unique_ptr<TileSearcher>& made = made_[static_cast<std::size_t>(searcher)];
  if (!made) made = make(searcher);
  return *made;
}

BoundTrial& Searchers::trial() {
  if (!trial_) trial_.emplace(&rows_.of_two_levels().model(), progress_);
  return *trial_;
}

std::unique_ptr<TileSearcher> Searchers::make(Searcher searcher) {
  const LaneKernels& kernels = rows_.kernels();
  switch (searcher) {
    case Searcher::triples:
      return make_triple_searcher(problem_, tables_, rows_.of_two_levels(), kernels, trial(), sink_, progress_);
    case Searcher::pairs:
      return make_two_level_searcher(problem_, tables_, rows_.of_two_levels(), kernels, 2, trial(), sink_, progress_);
    case Searcher::singles:
      return make_two_level_searcher(problem_, tables_, rows_.of_two_levels(), kernels, 1, trial(), sink_, progress_);
    case Searcher::levels:
      return make_level_searcher(problem_, tables_, rows_.of_levels(), kernels, sink_, progress_);
    case Searcher::wide:
      return make_wide_searcher(problem_, tables_, rows_.of_levels(), kernels, sink_, progress_);
    case Searcher::sums:
      return make_sum_searcher(problem_, tables_, rows_.of_levels(), kernels, sink_, progress_);
    default:
      return make_direct_searcher(problem_, tables_, level_, sink_, progress_);
  }
}

}  // namespace interplay
