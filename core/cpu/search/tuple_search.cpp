#include "interplay/tuple_search.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "search/searchers.hpp"
#include "search/survivor_sink.hpp"

namespace interplay {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

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

// The threads of a search. The end of its scope, by an exception too, stops them and waits for them.
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

// Makes the sink of a thread. Results that threads share are written to under the lock alone.
using MakeSink = std::function<std::unique_ptr<SurvivorSink>(std::mutex&)>;

bool search_tiles(const SearchProblem& problem, const SearchOptions& options, const MakeSink& make_sink,
                  std::span<std::uint8_t> searched_by) {
  const Index n_tiles = problem.tiles.size();
  if (n_tiles == 0) return true;
  const std::vector<Index> levels = distinct_levels(problem);
  const InformationTables tables =
      problem.planes.of_numbers
          ? InformationTables(std::make_unique<SumInformation>(
                problem.planes.scores.first(static_cast<std::size_t>(problem.planes.class_sizes[0])),
                problem.pseudocount))
          : InformationTables(problem.planes.class_sizes, problem.pseudocount, levels, most_cells(problem));
  const Routing routing(problem, options.direct_only);
  SharedRows rows(problem, options.simd_level);

  SearchProgress progress;
  std::mutex mutex;
  std::condition_variable finished;
  std::exception_ptr failure;
  const int n_threads = static_cast<int>(std::clamp<Index>(options.n_threads, 1, n_tiles));
  int running = n_threads;

  const auto work = [&] {
    std::exception_ptr caught;
    try {
      const std::unique_ptr<SurvivorSink> sink = make_sink(mutex);
      Searchers searchers(problem, tables, rows, options.simd_level, *sink, progress);
      while (!progress.stop.load(std::memory_order_relaxed) && !sink->is_full()) {
        const Index tile = progress.next_tile.fetch_add(1, std::memory_order_relaxed);
        if (tile >= n_tiles) break;
        const std::int32_t* blocks = problem.tiles[tile];
        const Searcher searcher = routing.searcher_of(blocks);
        if (!searchers[searcher].search(blocks)) break;
        searched_by[tile] = static_cast<std::uint8_t>(searcher);
        sink->finish_tile(tile);
      }
      sink->finish_thread();
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
      // The system gives no more threads: go on with the threads that run.
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
      // Under the lock, so that shared results hold still while they are looked at.
      if (!options.on_tick(progress.tuples_done.load(std::memory_order_relaxed))) progress.stop = true;
    }
  }
  threads.join();
  if (failure) std::rethrow_exception(failure);
  if (options.report) *options.report = {progress.polynomial_threads, progress.rational_threads};
  options.on_tick(progress.tuples_done.load(std::memory_order_relaxed));
  return std::find(searched_by.begin(), searched_by.end(), 0) == searched_by.end();
}

}  // namespace

bool search_max_gains(const SearchProblem& problem, const SearchOptions& options, MaxGains& best,
                      std::span<std::uint8_t> searched_by) {
  const auto make_sink = [&](std::mutex& mutex) {
    return std::make_unique<MaximumSink>(best, mutex, problem.discretization);
  };
  return search_tiles(problem, options, make_sink, searched_by);
}

bool list_tuples(const SearchProblem& problem, const SearchOptions& options, std::span<const double> thresholds,
                 TupleRowsByTile& rows, std::span<std::uint8_t> searched_by) {
  const auto make_sink = [&](std::mutex&) {
    return std::make_unique<RowSink>(thresholds, static_cast<Index>(problem.partner_cells.size()), rows);
  };
  return search_tiles(problem, options, make_sink, searched_by);
}

bool screen_tuples(const SearchProblem& problem, const SearchOptions& options, TupleRowsByTile& rows,
                   std::span<std::uint8_t> searched_by) {
  const auto make_sink = [&](std::mutex&) { return std::make_unique<RowSink>(rows); };
  return search_tiles(problem, options, make_sink, searched_by);
}

}  // namespace interplay
