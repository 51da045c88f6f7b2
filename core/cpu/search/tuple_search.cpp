#include "interplay/tuple_search.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "rows/level_data.hpp"
#include "rows/two_level_data.hpp"

namespace interplay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(100);

// Threads hand in what they found this often: a display can show it, and what others found tightens the bounds.
constexpr auto kHandIn = std::chrono::seconds(1);

Index most_cells(const SearchProblem& problem) {
  // Cells of a tuple = levels of a variable times those of its partners; blocks bound both.
  Index levels = 1;
  for (const Index row : problem.blocks.order) levels = std::max(levels, problem.planes.n_levels[row]);
  return levels * problem.partner_cells.back();
}

// A search of at most this much work is over before anyone could wish to stop it or see how far it is.
constexpr double kShortWork = 1e8;

// At least as many word operations as the search takes, in all threads.
double most_work(const SearchProblem& problem) {
  const Index k = problem.tiles.dimensions;
  double n_tuples = 0;
  for (Index tile = 0; tile < problem.tiles.size() && n_tuples < kShortWork; ++tile) {
    double in_tile = 1;
    for (Index place = 0; place < k; ++place) {
      in_tile *= static_cast<double>(problem.block_size(problem.tiles[tile], place));
    }
    n_tuples += in_tile;
  }
  return n_tuples * static_cast<double>(most_cells(problem) * problem.planes.n_words);
}

// The threads of a search. Whatever ends it, an exception too, stops them and waits for them.
class WorkingThreads {
 public:
  explicit WorkingThreads(std::atomic<bool>& stop) : stop_(stop) {}
  WorkingThreads(const WorkingThreads&) = delete;
  WorkingThreads& operator=(const WorkingThreads&) = delete;
  ~WorkingThreads() {
    stop_ = true;
    join();
  }

  template <class Work>
  void start(Work& work) {
    threads_.emplace_back(std::ref(work));
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::atomic<bool>& stop_;
  std::vector<std::thread> threads_;
};

std::vector<Index> distinct_levels(const SearchProblem& problem) {
  std::vector<Index> levels;
  for (const Index row : problem.blocks.order) levels.push_back(problem.planes.n_levels[row]);
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  return levels;
}

}  // namespace

bool search_max_gains(const SearchProblem& problem, const SearchOptions& options, MaxGains& best,
                      std::span<std::uint8_t> tile_done) {
  const Index n_tiles = problem.tiles.size();
  if (n_tiles == 0) return true;
  const std::vector<Index> levels = distinct_levels(problem);
  const InformationTables tables(problem.planes.class_sizes, problem.pseudocount, levels, most_cells(problem));
  std::optional<TwoLevelData> two_level;
  std::optional<LevelData> any_level;
  if (!options.direct_only && !problem.statistic) {
    const LaneKernels& kernels = lane_kernels(options.simd_level);
    if (TwoLevelData::applies_to(problem)) two_level.emplace(problem, kernels);
    if (LevelData::applies_to(problem) && !TwoLevelData::applies_to_all(problem)) any_level.emplace(problem, kernels);
  }

  SearchProgress progress;
  std::mutex mutex;
  std::condition_variable finished;
  std::exception_ptr failure;
  const int n_threads = static_cast<int>(std::clamp<Index>(options.n_threads, 1, n_tiles));
  int running = n_threads;

  const auto work = [&] {
    std::exception_ptr caught;
    try {
      std::unique_lock copying(mutex);  // another thread may be done already, and merging
      OwnedMaxGains own(best);
      copying.unlock();
      TupleRows found(problem.tiles.dimensions);
      if (options.rows) {
        own.view().rows = &found;
        own.view().n_groups = static_cast<Index>(problem.partner_cells.size());
      }
      const auto direct = make_direct_searcher(problem, tables, options.simd_level, own.view(), progress);
      const auto fast =
          two_level ? make_two_level_searcher(problem, tables, *two_level, options.simd_level, own.view(), progress)
                    : nullptr;
      const auto general =
          any_level ? make_level_searcher(problem, tables, *any_level, options.simd_level, own.view(), progress)
                    : nullptr;
      Clock::time_point handed_in = Clock::now();
      while (!progress.stop.load(std::memory_order_relaxed) && !(options.rows && options.rows->full())) {
        const Index tile = progress.next_tile.fetch_add(1, std::memory_order_relaxed);
        if (tile >= n_tiles) break;
        const std::int32_t* blocks = problem.tiles[tile];
        const bool is_fast = fast && two_level->applies_to(blocks) && fast->takes(blocks);
        const bool is_general = general && any_level->applies_to(blocks) && general->takes(blocks);
        TileSearcher& searcher = is_fast ? *fast : is_general ? *general : *direct;
        if (!searcher.search(blocks)) break;
        tile_done[tile] = 1;
        if (options.rows) {
          found.sort();
          options.rows->hand_in(tile, std::exchange(found, TupleRows(problem.tiles.dimensions)));
        } else if (const Clock::time_point now = Clock::now(); now - handed_in >= kHandIn) {
          const std::lock_guard lock(mutex);
          best.merge(own.view());
          own.view().merge(best);
          handed_in = now;
        }
      }
      if (!options.rows) {
        const std::lock_guard lock(mutex);
        best.merge(own.view());
      }
    } catch (...) {
      caught = std::current_exception();
      progress.stop = true;
    }
    const std::lock_guard lock(mutex);
    if (caught) failure = caught;
    --running;
    finished.notify_one();
  };

  // The calling thread keeps watch, but starting a thread takes as long as a small search.
  const bool in_this_thread = n_threads == 1 && most_work(problem) <= kShortWork;
  if (in_this_thread) work();
  WorkingThreads threads(progress.stop);
  for (int t = 0; t < n_threads && !in_this_thread; ++t) {
    try {
      threads.start(work);
    } catch (const std::system_error&) {
      // The system gives no more threads: go on with those we have.
      if (t == 0) throw;
      const std::lock_guard lock(mutex);
      running -= n_threads - t;
      break;
    }
  }
  {
    std::unique_lock lock(mutex);
    while (running > 0) {
      if (finished.wait_for(lock, kTick, [&] { return running == 0; })) break;
      // Under the lock, so that `best` holds still while it is looked at.
      if (!options.on_tick(progress.tuples_done.load(std::memory_order_relaxed))) progress.stop = true;
    }
  }
  threads.join();
  if (failure) std::rethrow_exception(failure);
  if (options.report) *options.report = {progress.polynomial_threads, progress.rational_threads};
  options.on_tick(progress.tuples_done.load(std::memory_order_relaxed));
  return std::all_of(tile_done.begin(), tile_done.end(), [](std::uint8_t done) { return done != 0; });
}

}  // namespace interplay
