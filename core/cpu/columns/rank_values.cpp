#include "interplay/rank_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace interplay {
namespace {

// A rank is this near to its place among the values shown, in nine of ten rows.
constexpr Index kPlacesAside = 5;

// Numbers are tried this far on either side of where a value should be, as a share of the range it is known to be in.
constexpr double kAside = 0.05;

// At most this many values are sorted rather than counted; after this many counts, all values that are left.
constexpr Index kFew = 8;
constexpr int kMostCounts = 10;

template <class Value>
Value next_below(Value value) {
  if constexpr (std::is_integral_v<Value>) {
    return static_cast<Value>(value - 1);
  } else {
    return std::nextafter(value, -std::numeric_limits<Value>::infinity());
  }
}

template <class Value>
Value next_above(Value value) {
  if constexpr (std::is_integral_v<Value>) {
    return static_cast<Value>(value + 1);
  } else {
    return std::nextafter(value, std::numeric_limits<Value>::infinity());
  }
}

}  // namespace

template <class Value>
bool RankValues<Value>::operator()(const Value* values, Index n, const Index* ranks, Index n_ranks, Value* found) {
  if (std::is_floating_point_v<Value> && kernels_.has_nan(values, n)) return false;
  values_ = values;
  n_ = n;
  std::array<Value, kShown> shown;
  for (Index i = 0; i < kShown; ++i) shown[i] = values[i * n / kShown];
  kernels_.sort_shown(shown.data(), shown_.data());
  for (Index r = 0; r < n_ranks; ++r) found[r] = find(ranks[r]);
  return true;
}

template <class Value>
Value RankValues<Value>::find(Index rank) {
  const Bracket bracket = bracket_of(rank);
  if (bracket.low == bracket.high) return bracket.low;
  gathered_.resize(static_cast<std::size_t>(n_) + 1);
  const Index n_gathered = kernels_.gather(values_, n_, bracket.low, bracket.high, gathered_.data());
  const auto wanted = gathered_.begin() + (rank - bracket.begin);
  std::nth_element(gathered_.begin(), wanted, gathered_.begin() + n_gathered);
  return *wanted;
}

template <class Value>
typename RankValues<Value>::Bracket RankValues<Value>::bracket_of(Index rank) const {
  using Limits = std::numeric_limits<Value>;
  const Value lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const Value highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const Index place = rank * kShown / n_;
  Bracket bracket = narrowed({lowest, highest, 0, n_}, shown_[std::max<Index>(place - kPlacesAside, 0)],
                             shown_[std::min<Index>(place + kPlacesAside, kShown - 1)], rank);
  bool interpolate = true;
  for (int count = 1; count < kMostCounts && bracket.low < bracket.high && bracket.size() > kFew; ++count) {
    const Index size = bracket.size();
    const double low = static_cast<double>(bracket.low), range = static_cast<double>(bracket.high) - low;
    if (interpolate && std::isfinite(range)) {
      const double share = (static_cast<double>(rank - bracket.begin) + 0.5) / static_cast<double>(size);
      const auto at = [&](double share_of_range) {
        const double value = low + std::clamp(share_of_range, 0.0, 1.0) * range;
        if (value >= static_cast<double>(bracket.high)) return bracket.high;  // which a rounded one may exceed
        return std::max(static_cast<Value>(value), bracket.low);
      };
      bracket = narrowed(bracket, at(share - kAside), at(share + kAside), rank);
    } else {  // one of the values, which is the one to find if there are many like it
      const Value value =
          *std::find_if(values_, values_ + n_, [&](Value v) { return bracket.low <= v && v <= bracket.high; });
      bracket = narrowed(bracket, value, value, rank);
    }
    // Where most values are left, they are tied or very unevenly spread.
    interpolate = bracket.size() < size / 4 || !interpolate;
  }
  return bracket;
}

// The range of a rank once the values below `first` and above `last` are counted.
template <class Value>
typename RankValues<Value>::Bracket RankValues<Value>::narrowed(const Bracket& bracket, Value first, Value last,
                                                                Index rank) const {
  const ApartCounts n = kernels_.count_apart(values_, n_, first, last);
  if (rank < n.below) return {bracket.low, next_below(first), bracket.begin, n.below};
  if (rank >= n_ - n.above) return {next_above(last), bracket.high, n_ - n.above, bracket.end};
  return {first, last, n.below, n_ - n.above};
}

template class RankValues<double>;
template class RankValues<float>;
template class RankValues<std::int8_t>;
template class RankValues<std::uint8_t>;
template class RankValues<std::int16_t>;
template class RankValues<std::int32_t>;
template class RankValues<std::int64_t>;

}  // namespace interplay
