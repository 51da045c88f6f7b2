// columns → the values at some ranks, without sorting
#pragma once

#include <array>
#include <vector>

#include "interplay/column_kernels.hpp"

namespace interplay {

// Finds the values at given ranks of one row after another. A few values of a row show about where a rank is. Then the
// values below one number and above another are counted, at the speed of reading them: a few counts leave one value, if
// it is a tied one, or a handful, and only these are put in order.
template <class Value>
class RankValues {
 public:
  explicit RankValues(const ColumnKernels<Value>& kernels = column_kernels<Value>()) : kernels_(kernels) {}

  // values: IN n numbers; ranks: IN n_ranks, below n; found: OUT n_ranks
  // Returns false, and finds nothing, if a value is NaN.
  bool operator()(const Value* values, Index n, const Index* ranks, Index n_ranks, Value* found);

 private:
  // A value is from `low` to `high`, as are the values at the ranks from `begin` to `end` − 1, and no others.
  struct Bracket {
    Value low, high;
    Index begin, end;

    Index size() const { return end - begin; }
  };

  Bracket bracket_of(Index rank) const;
  Bracket narrowed(const Bracket& bracket, Value first, Value last, Index rank) const;
  Value find(Index rank);

  const ColumnKernels<Value>& kernels_;
  const Value* values_ = nullptr;
  Index n_ = 0;
  std::array<Value, kShown> shown_{};  // in order
  std::vector<Value> gathered_;
};

}  // namespace interplay
