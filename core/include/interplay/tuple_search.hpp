// bit planes + tiles of tuples → maximum gains, or rows above thresholds, on all threads
#pragma once

#include <functional>

#include "interplay/max_gains.hpp"
#include "interplay/routing.hpp"
#include "interplay/tile_searcher.hpp"
#include "interplay/tuple_rows.hpp"

namespace interplay {

// How a search was done; results never depend on it.
struct SearchReport {
  // Threads by the bound that was cheaper for them; others had no choice, or too little to do.
  int polynomial_threads = 0, rational_threads = 0;
};

struct SearchOptions {
  int n_threads;
  SimdLevel simd_level;
  // Called about ten times a second from the calling thread with the number of tuples done so far; returning false
  // stops the search. `best` may be read meanwhile: it holds the maxima that the threads handed in.
  std::function<bool(std::uint64_t)> on_tick;
  // Leave the lane kernels out, to compare with.
  bool direct_only = false;
  SearchReport* report = nullptr;
};

// Search the tiles, into `best`, which may hold the results of earlier searches.
// searched_by: OUT the searcher of each tile of which all tuples were searched; zero before
// Returns whether all tiles were done.
bool search_max_gains(const SearchProblem& problem, const SearchOptions& options, MaxGains& best,
                      std::span<std::uint8_t> searched_by);

// List every value above the threshold of its slot (see MaxGains); tiles are taken until `rows` is full.
bool list_tuples(const SearchProblem& problem, const SearchOptions& options, std::span<const double> thresholds,
                 TupleRowsByTile& rows, std::span<std::uint8_t> searched_by);

// List each tuple of which every member gains enough by `problem.every_member`, with its smallest gain.
bool screen_tuples(const SearchProblem& problem, const SearchOptions& options, TupleRowsByTile& rows,
                   std::span<std::uint8_t> searched_by);

}  // namespace interplay
