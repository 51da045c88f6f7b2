// Takes survivors, tuples that the bound did not rule out, once they are scored exactly: keeps the maximum of each
// slot, or lists rows. A thread has a sink of its own.
#pragma once

#include <chrono>
#include <mutex>
#include <span>
#include <vector>

#include "interplay/max_gains.hpp"
#include "interplay/tuple_rows.hpp"

namespace interplay {

class SurvivorSink {
 public:
  virtual ~SurvivorSink() = default;

  // The least gain that the sink takes, of a row in a group (a slot, see MaxGains). Branch and bound compares with it.
  double to_beat(Index slot) const { return to_beat_[static_cast<std::size_t>(slot)]; }

  // `members` need not be sorted.
  void offer(Index slot, double gain, const Index* members) {
    if (gain >= to_beat(slot)) take(slot, gain, members);
  }
  // A tuple of which every member gains enough, where that is the rule, and the smallest of these gains.
  virtual void list(const Index* members, Index variable, double gain) = 0;

  // All tuples of a tile were offered.
  virtual void finish_tile(Index tile) = 0;
  // The thread takes no more tiles.
  virtual void finish_thread() {}
  // Whether no thread should take another tile.
  virtual bool is_full() const { return false; }

 protected:
  std::span<const double> to_beat_;

 private:
  virtual void take(Index slot, double gain, const Index* members) = 0;
};

// Keeps maxima: a copy of `best`, which is handed in now and then under the lock.
class MaximumSink final : public SurvivorSink {
 public:
  MaximumSink(MaxGains& best, std::mutex& mutex, Index discretization);
  void finish_tile(Index tile) override;
  void finish_thread() override;
  void list(const Index*, Index, double) override {}

 private:
  void take(Index slot, double gain, const Index* members) override {
    own_.offer(slot, gain, discretization_, members);
  }

  MaxGains& best_;
  std::mutex& mutex_;
  const Index discretization_;
  std::vector<double> gains_;
  std::vector<Index> discretizations_, tuples_;
  MaxGains own_;  // shows these
  std::chrono::steady_clock::time_point handed_in_ = std::chrono::steady_clock::now();
};

// Lists a row for every gain above its threshold; or, without thresholds, for every tuple.
class RowSink final : public SurvivorSink {
 public:
  // thresholds: of each slot, n_groups to a row; a threshold does not depend on the group
  RowSink(std::span<const double> thresholds, Index n_groups, TupleRowsByTile& rows)
      : n_groups_(n_groups), rows_(rows), of_tile_(rows.dimensions()) {
    to_beat_ = thresholds;
  }
  explicit RowSink(TupleRowsByTile& rows) : RowSink({}, 1, rows) {}
  void list(const Index* members, Index variable, double gain) override { of_tile_.add(members, variable, gain); }
  void finish_tile(Index tile) override;
  bool is_full() const override { return rows_.full(); }

 private:
  void take(Index slot, double gain, const Index* members) override;

  const Index n_groups_;
  TupleRowsByTile& rows_;
  TupleRows of_tile_;
};

}  // namespace interplay
