// a column → its distinct values, where these are few: flags and genotypes
#pragma once

#include "interplay/types.hpp"

namespace interplay {

inline constexpr Index kFewValues = 3;

// values: IN n numbers, at least one; found: OUT kFewValues of them, ascending
// Returns how many there are, kFewValues + 1 if there are more, or −1 if a value is NaN.
template <class Value>
Index find_few_values(const Value* values, Index n, Value* found);

}  // namespace interplay
