// columns → the values at some ranks, without sorting
#pragma once

#include <array>
#include <vector>

#include "interplay/types.hpp"

namespace interplay {

// Finds the values at given ranks of one row after another. The range of a row is cut into equal buckets; since
// rounding is monotone, so are the buckets, and only the bucket that holds a rank has to be put in order.
template <class Value>
class RankValues {
 public:
  // values: IN n numbers; ranks: IN n_ranks, below n; found: OUT n_ranks
  // Returns false, and finds nothing, if a value is NaN.
  bool operator()(const Value* values, Index n, const Index* ranks, Index n_ranks, Value* found);

 private:
  static constexpr Index kBuckets = 1024;

  bool fill_buckets(const Value* values, Index n);

  std::vector<std::uint16_t> bucket_of_;
  std::array<std::uint32_t, kBuckets> sizes_{};
  std::vector<Value> inside_;
};

}  // namespace interplay
