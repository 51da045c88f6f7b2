// The loops over the values of a column: compared with numbers, counted, picked out and packed.
//
// Bottleneck: reading, if compilers turn them into vector instructions. Overflow: counts are kept in blocks.
#pragma once

#include "interplay/types.hpp"

namespace interplay {

// Moves by 1, 2, 4, … places that bring any bits of a word together.
inline constexpr int kMoves = 6;

// Values of a column that show where the others are.
inline constexpr Index kShown = 32;

struct ApartCounts {
  Index below, above;
};

template <class Value>
struct ColumnKernels {
  // Whether a value is NaN.
  bool (*has_nan)(const Value* values, Index n);
  // Whether a value is none of three.
  bool (*has_others)(const Value* values, Index n, Value a, Value b, Value c);
  // Put kShown values in order.
  void (*sort_shown)(const Value* shown, Value* in_order);
  // How many values are below `first` and how many above `last`.
  ApartCounts (*count_apart)(const Value* values, Index n, Value first, Value last);
  // Copy the values from `low` to `high`; returns their number. `gathered` needs room for one more.
  Index (*gather)(const Value* values, Index n, Value low, Value high, Value* gathered);
  // Set bit i if value i is above the threshold; bits: (n + 63) / 64 words.
  void (*mark_above)(const Value* values, Index n, Value threshold, Word* bits);
  // Keep the bits of `members` and move those of movers[0] by 1 place to the right, then those of movers[1] by 2, …
  void (*move_together)(const Word* bits, const Word* members, const Word* const movers[kMoves], Index n_words,
                        Word* moved);
};

// For the best instruction set of this machine. For double, float, signed integers of 1 to 8 bytes and
// unsigned ones of 1.
template <class Value>
const ColumnKernels<Value>& column_kernels();

template <class Value>
const ColumnKernels<Value>& column_kernels_portable();
template <class Value>
const ColumnKernels<Value>& column_kernels_avx2();

}  // namespace interplay
