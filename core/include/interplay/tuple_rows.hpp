// tuples of a search → rows (tuple, variable, value)
#pragma once

#include <atomic>
#include <vector>

#include "interplay/types.hpp"

namespace interplay {

// Rows as they are found: the members of the tuple, ascending, the variable, and its value in the tuple.
class TupleRows {
 public:
  explicit TupleRows(Index dimensions) : dimensions_(dimensions) {}

  // `members` need not be sorted.
  void add(const Index* members, Index variable, double value);
  // By tuple, then variable: the order in which they are found depends on the kernel.
  void sort();

  Index size() const { return static_cast<Index>(values_.size()); }
  Index dimensions() const { return dimensions_; }
  const std::int32_t* tuple(Index row) const { return numbers_.data() + row * stride(); }
  std::int32_t variable(Index row) const { return tuple(row)[dimensions_]; }
  double value(Index row) const { return values_[static_cast<std::size_t>(row)]; }

 private:
  Index stride() const { return dimensions_ + 1; }

  Index dimensions_;
  std::vector<std::int32_t> numbers_;  // size * (dimensions + 1): the tuple, then the variable
  std::vector<double> values_;
};

// The rows that threads hand in, tile by tile: handed in in any order, read in the order of the tiles. So rows do not
// depend on the threads.
class TupleRowsByTile {
 public:
  // max_rows: from this many rows on no further tile is taken, which bounds the memory.
  TupleRowsByTile(Index n_tiles, Index dimensions, Index max_rows)
      : by_tile_(static_cast<std::size_t>(n_tiles), TupleRows(dimensions)),
        dimensions_(dimensions),
        max_rows_(max_rows) {}

  Index dimensions() const { return dimensions_; }

  bool full() const { return n_rows_.load(std::memory_order_relaxed) >= max_rows_; }
  void hand_in(Index tile, TupleRows&& rows);
  Index n_rows() const { return n_rows_.load(std::memory_order_relaxed); }
  TupleRows& of_tile(Index tile) { return by_tile_[static_cast<std::size_t>(tile)]; }

 private:
  std::vector<TupleRows> by_tile_;
  const Index dimensions_, max_rows_;
  std::atomic<Index> n_rows_{0};
};

}  // namespace interplay
