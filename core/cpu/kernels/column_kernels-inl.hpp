// The loops themselves, plain enough for compilers to vectorise; a file per instruction set includes them. Nothing of
// std:: may be instantiated here (see tuple_counts-inl.hpp).
#pragma once

#include "interplay/column_kernels.hpp"
#include "kernels/byte_bits-inl.hpp"

namespace {

using interplay::ApartCounts;
using interplay::ColumnKernels;
using interplay::Index;
using interplay::Word;

// Values are counted in counters of their own width, so that registers are full, and in blocks, so that none overflows.
template <int n_bytes>
struct CounterOf;
template <>
struct CounterOf<1> {
  using Type = std::int16_t;  // one of a byte would overflow after 127 values
};
template <>
struct CounterOf<2> {
  using Type = std::int16_t;
};
template <>
struct CounterOf<4> {
  using Type = std::int32_t;
};
template <>
struct CounterOf<8> {
  using Type = std::int64_t;
};
template <class Value>
using Counter = typename CounterOf<sizeof(Value)>::Type;

constexpr Index kCountedAtOnce = Index{1} << 14;
constexpr Index kGatheredAtOnce = 64;

template <class Value>
bool has_nan(const Value* values, Index n) {
  Counter<Value> any = 0;
  for (Index i = 0; i < n; ++i) any |= values[i] != values[i];
  return any != 0;
}

template <class Value>
bool has_others(const Value* values, Index n, Value a, Value b, Value c) {
  // Bits as wide as a value, so that none has to be widened; of bytes, counters are not.
  if constexpr (sizeof(Value) == 1) {
    std::uint8_t any = 0;
    for (Index i = 0; i < n; ++i) {
      any = static_cast<std::uint8_t>(any | ((values[i] != a) & (values[i] != b) & (values[i] != c)));
    }
    return any != 0;
  } else {
    Counter<Value> any = 0;
    for (Index i = 0; i < n; ++i) any |= (values[i] != a) & (values[i] != b) & (values[i] != c);
    return any != 0;
  }
}

// Each value goes to the number of values before it: no branch for the processor to guess.
template <class Value>
void sort_shown(const Value* shown, Value* in_order) {
  using interplay::kShown;
  Counter<Value> place[kShown] = {}, number[kShown];
  for (Index i = 0; i < kShown; ++i) number[i] = static_cast<Counter<Value>>(i);
  for (Index j = 0; j < kShown; ++j) {
    const Value other = shown[j];
    const Counter<Value> other_number = number[j];
    for (Index i = 0; i < kShown; ++i) {
      place[i] += (other < shown[i]) | ((other == shown[i]) & (other_number < number[i]));
    }
  }
  for (Index i = 0; i < kShown; ++i) in_order[place[i]] = shown[i];
}

template <class Value>
ApartCounts count_apart(const Value* values, Index n, Value first, Value last) {
  ApartCounts counts{0, 0};
  for (Index begin = 0; begin < n; begin += kCountedAtOnce) {
    const Index end = begin + kCountedAtOnce < n ? begin + kCountedAtOnce : n;
    Counter<Value> below = 0, above = 0;
    for (Index i = begin; i < end; ++i) {
      below += values[i] < first;
      above += values[i] > last;
    }
    counts.below += below;
    counts.above += above;
  }
  return counts;
}

template <class Value>
Index gather(const Value* values, Index n, Value low, Value high, Value* gathered) {
  Index n_gathered = 0;
  for (Index begin = 0; begin < n; begin += kGatheredAtOnce) {
    const Index end = begin + kGatheredAtOnce < n ? begin + kGatheredAtOnce : n;
    Counter<Value> any = 0;  // most blocks have none
    for (Index i = begin; i < end; ++i) any |= (values[i] >= low) & (values[i] <= high);
    if (!any) continue;
    // Written without a branch: the next value overwrites one that is not wanted.
    for (Index i = begin; i < end; ++i) {
      gathered[n_gathered] = values[i];
      n_gathered += (values[i] >= low) & (values[i] <= high);
    }
  }
  return n_gathered;
}

template <class Value>
void mark_above(const Value* values, Index n, Value threshold, Word* bits) {
  for (Index begin = 0; begin < n; begin += 64) {
    const int n_bits = n - begin < 64 ? static_cast<int>(n - begin) : 64;
    std::uint8_t is_above[64] = {};
    if (n_bits == 64) {
      for (int i = 0; i < 64; ++i) is_above[i] = values[begin + i] > threshold;
    } else {
      for (int i = 0; i < n_bits; ++i) is_above[i] = values[begin + i] > threshold;
    }
    Word word = 0;
    for (int eighth = 0; eighth < 8; ++eighth) {
      Word bytes = 0;
      for (int i = 0; i < 8; ++i) bytes |= Word{is_above[8 * eighth + i]} << (8 * i);
      word |= as_bits(bytes) << (8 * eighth);
    }
    bits[begin / 64] = word;
  }
}

inline void move_together(const Word* bits, const Word* members, const Word* const movers[interplay::kMoves],
                          Index n_words, Word* moved) {
  for (Index w = 0; w < n_words; ++w) {
    Word kept = bits[w] & members[w];
    for (int move = 0; move < interplay::kMoves; ++move) {
      const Word moving = kept & movers[move][w];
      kept = (kept ^ moving) | moving >> (1 << move);
    }
    moved[w] = kept;
  }
}

template <class Value>
constexpr ColumnKernels<Value> make_column_kernels() {
  return {has_nan<Value>, has_others<Value>, sort_shown<Value>, count_apart<Value>,
          gather<Value>,  mark_above<Value>, move_together};
}

}  // namespace
