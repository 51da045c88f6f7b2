// a table by samples → the same by columns
#pragma once

#include "interplay/types.hpp"

namespace interplay {

// table: IN n_samples rows of n_columns items each, `stride` items apart
// by_column: OUT n_columns * n_samples
// For unsigned integers of 2 and 4 bytes, which stand for anything of that size.
template <class Item>
void transpose(const Item* table, Index n_samples, Index n_columns, Index stride, Item* by_column);

}  // namespace interplay
