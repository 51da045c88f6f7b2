#include "search/survivor_sink.hpp"

#include <utility>

namespace interplay {
namespace {

// Threads hand in their maxima this often: a display can show them, and the maxima of other threads tighten the bounds.
constexpr auto kHandIn = std::chrono::seconds(1);

}  // namespace

MaximumSink::MaximumSink(MaxGains& best, std::mutex& mutex, Index discretization)
    : best_(best), mutex_(mutex), discretization_(discretization) {
  const std::lock_guard lock(mutex);  // another thread may be done already, and merging
  gains_.assign(best.gain.begin(), best.gain.end());
  discretizations_.assign(best.discretization.begin(), best.discretization.end());
  tuples_.assign(best.tuples.begin(), best.tuples.end());
  own_ = {gains_, discretizations_, tuples_, best.dimensions};
  to_beat_ = gains_;
}

void MaximumSink::finish_tile(Index) {
  const auto now = std::chrono::steady_clock::now();
  if (now - handed_in_ < kHandIn) return;
  const std::lock_guard lock(mutex_);
  best_.merge(own_);
  own_.merge(best_);
  handed_in_ = now;
}

void MaximumSink::finish_thread() {
  const std::lock_guard lock(mutex_);
  best_.merge(own_);
}

void RowSink::take(Index slot, double gain, const Index* members) {
  if (gain > to_beat(slot)) of_tile_.add(members, slot / n_groups_, gain);
}

void RowSink::finish_tile(Index tile) {
  of_tile_.sort();
  rows_.hand_in(tile, std::exchange(of_tile_, TupleRows(rows_.dimensions())));
}

}  // namespace interplay
