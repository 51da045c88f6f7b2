#include "search/survivor_sink.hpp"

#include <utility>

namespace interplay {
namespace {

// Threads hand in their maxima this often: a display can show them, and what others found tightens the bounds.
constexpr auto kHandIn = std::chrono::seconds(1);

// Another thread may be done already, and merging.
OwnedMaxGains copy_under_lock(const MaxGains& best, std::mutex& mutex) {
  const std::lock_guard lock(mutex);
  return OwnedMaxGains(best);
}

}  // namespace

MaximumSink::MaximumSink(MaxGains& best, std::mutex& mutex, Index discretization)
    : MaximumSink(copy_under_lock(best, mutex), best, mutex, discretization) {}

// Moving `own` leaves its arrays where they are.
MaximumSink::MaximumSink(OwnedMaxGains own, MaxGains& best, std::mutex& mutex, Index discretization)
    : SurvivorSink(own.view().gain),
      own_(std::move(own)),
      best_(best),
      mutex_(mutex),
      discretization_(discretization) {}

void MaximumSink::take(Index slot, double gain, const Index* members) {
  own_.view().offer(slot, gain, discretization_, members);
}

void MaximumSink::finish_tile(Index) {
  const auto now = std::chrono::steady_clock::now();
  if (now - handed_in_ < kHandIn) return;
  const std::lock_guard lock(mutex_);
  best_.merge(own_.view());
  own_.view().merge(best_);
  handed_in_ = now;
}

void MaximumSink::finish_thread() {
  const std::lock_guard lock(mutex_);
  best_.merge(own_.view());
}

void RowSink::take(Index slot, double gain, const Index* members) {
  if (gain > to_beat(slot)) of_tile_.add(members, slot / n_groups_, gain);
}

void RowSink::finish_tile(Index tile) {
  of_tile_.sort();
  rows_.hand_in(tile, std::exchange(of_tile_, TupleRows(rows_.dimensions())));
}

}  // namespace interplay
