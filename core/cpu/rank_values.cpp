#include "interplay/rank_values.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace interplay {

template <class Value>
bool RankValues<Value>::fill_buckets(const Value* values, Index n) {
  Value lowest = values[0], highest = values[0];
  bool is_nan = false;
  for (Index i = 0; i < n; ++i) {
    lowest = values[i] < lowest ? values[i] : lowest;
    highest = values[i] > highest ? values[i] : highest;
    is_nan |= values[i] != values[i];
  }
  if (is_nan) return false;
  bucket_of_.resize(static_cast<std::size_t>(n));
  std::uint16_t* bucket_of = bucket_of_.data();
  const double low = static_cast<double>(lowest), range = static_cast<double>(highest) - low;
  const double scale = static_cast<double>(kBuckets - 1) / range;
  if (std::is_integral_v<Value> && range < static_cast<double>(kBuckets)) {
    for (Index i = 0; i < n; ++i) bucket_of[i] = static_cast<std::uint16_t>(values[i] - lowest);
  } else if (std::isfinite(scale) && std::isfinite(range)) {
    for (Index i = 0; i < n; ++i) {
      const double bucket = (static_cast<double>(values[i]) - low) * scale;
      bucket_of[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(bucket));
    }
  } else {  // infinite numbers, or all the same: one bucket
    std::fill_n(bucket_of, n, std::uint16_t{0});
  }
  // In two halves: neighbours often are in the same bucket, and an addition waits for the one before.
  std::array<std::uint32_t, kBuckets> others{};
  sizes_.fill(0);
  for (Index i = 0; i + 1 < n; i += 2) {
    ++sizes_[bucket_of[i]];
    ++others[bucket_of[i + 1]];
  }
  if (n % 2) ++sizes_[bucket_of[n - 1]];
  for (Index bucket = 0; bucket < kBuckets; ++bucket) sizes_[bucket] += others[bucket];
  return true;
}

template <class Value>
bool RankValues<Value>::operator()(const Value* values, Index n, const Index* ranks, Index n_ranks, Value* found) {
  if (!fill_buckets(values, n)) return false;
  for (Index r = 0; r < n_ranks; ++r) {
    Index before = 0;
    std::uint16_t bucket = 0;
    while (before + sizes_[bucket] <= ranks[r]) before += sizes_[bucket++];
    // Written without a branch: what is not in the bucket is written over.
    inside_.resize(static_cast<std::size_t>(n) + 1);
    Index n_inside = 0;
    for (Index i = 0; i < n; ++i) {
      inside_[n_inside] = values[i];
      n_inside += bucket_of_[i] == bucket;
    }
    const auto wanted = inside_.begin() + (ranks[r] - before);
    std::nth_element(inside_.begin(), wanted, inside_.begin() + n_inside);
    found[r] = *wanted;
  }
  return true;
}

template class RankValues<double>;
template class RankValues<float>;
template class RankValues<std::int16_t>;
template class RankValues<std::int32_t>;
template class RankValues<std::int64_t>;

}  // namespace interplay
