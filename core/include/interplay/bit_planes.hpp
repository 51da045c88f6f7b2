// codes → bit planes
#pragma once

#include "interplay/types.hpp"

namespace interplay {

// Set the bits of rows [first_row, last_row).
// codes: IN n_rows * n_samples, level of each sample; below the row's number of levels
// sample_order: IN the samples of class 0, then of class 1, …; of a number outcome all samples once per order
// words: OUT n_planes * n_words, zeroed by the caller
void pack_bit_planes(std::span<const std::uint8_t> codes, std::span<const Index> sample_order,
                     std::span<const Index> class_sizes, std::span<const Index> class_word_start,
                     std::span<const Index> plane_start, Index first_row, Index last_row, std::span<Word> words);

// The highest of some codes. Here, since the bindings are built to be small: ten times slower.
std::uint8_t highest_code(std::span<const std::uint8_t> codes);

// Set the bits of all samples, and none of the padding.
// mask: OUT n_words
void mask_all_samples(const BitPlanes& planes, Word* mask);

}  // namespace interplay
