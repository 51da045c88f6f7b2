// bit planes + tiles of tuples → maximum gains, on all threads
#pragma once

#include <functional>

#include "interplay/routing.hpp"
#include "interplay/tile_searcher.hpp"

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
  // stops the search. `best` may be read meanwhile: it holds what the threads handed in.
  std::function<bool(std::uint64_t)> on_tick;
  // Leave the lane kernels out, to compare with.
  bool direct_only = false;
  // If set, `best` holds thresholds, and what exceeds them is listed here; tiles are taken until this is full.
  TupleRowsByTile* rows = nullptr;
  SearchReport* report = nullptr;
};

// Search the tiles, into `best`, which may hold the results of earlier searches.
// searched_by: OUT the searcher of each tile of which all tuples were searched; zero before
// Returns whether all tiles were done.
bool search_max_gains(const SearchProblem& problem, const SearchOptions& options, MaxGains& best,
                      std::span<std::uint8_t> searched_by);

}  // namespace interplay
