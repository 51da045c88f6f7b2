#include "interplay/transposed.hpp"

#include <algorithm>

namespace interplay {
namespace {

constexpr Index kSide = 8, kSquare = kSide * kSide;

// One half between the other, for which there are vector instructions. The place of an item in a square is the number
// of its row and that of its column, three bits each: this turns them by one place.
template <class Item>
void interleave(const Item (&halves)[kSquare], Item (&turned)[kSquare]) {
  for (Index i = 0; i < kSquare / 2; ++i) {
    turned[2 * i] = halves[i];
    turned[2 * i + 1] = halves[kSquare / 2 + i];
  }
}

template <class Item>
void transpose_square(const Item* table, Index stride, Index n_samples, Item* by_column) {
  Item one[kSquare], other[kSquare];
  for (Index i = 0; i < kSide; ++i) std::copy_n(table + i * stride, kSide, one + i * kSide);
  interleave(one, other);
  interleave(other, one);
  interleave(one, other);
  for (Index i = 0; i < kSide; ++i) std::copy_n(other + i * kSide, kSide, by_column + i * n_samples);
}

}  // namespace

template <class Item>
void transpose(const Item* table, Index n_samples, Index n_columns, Index stride, Item* by_column) {
  const Index whole_samples = n_samples - n_samples % kSide, whole_columns = n_columns - n_columns % kSide;
  for (Index column = 0; column < whole_columns; column += kSide) {
    for (Index sample = 0; sample < whole_samples; sample += kSide) {
      transpose_square(table + sample * stride + column, stride, n_samples, by_column + column * n_samples + sample);
    }
  }
  const auto copy = [&](Index column, Index first_sample) {
    for (Index sample = first_sample; sample < n_samples; ++sample) {
      by_column[column * n_samples + sample] = table[sample * stride + column];
    }
  };
  for (Index column = 0; column < whole_columns; ++column) copy(column, whole_samples);
  for (Index column = whole_columns; column < n_columns; ++column) copy(column, 0);
}

template void transpose(const std::uint8_t*, Index, Index, Index, std::uint8_t*);
template void transpose(const std::uint16_t*, Index, Index, Index, std::uint16_t*);
template void transpose(const std::uint32_t*, Index, Index, Index, std::uint32_t*);

}  // namespace interplay
