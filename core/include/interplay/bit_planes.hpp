// codes → bit planes
#pragma once

#include "interplay/types.hpp"

namespace interplay {

// Set the bits of rows [first_row, last_row).
// codes: IN n_rows * n_samples, level of each sample
// bit_of_sample: IN n_samples, where the sample's bit lies in a plane (its class's words come together)
// words: OUT n_planes * n_words, zeroed by the caller
void pack_bit_planes(std::span<const std::uint8_t> codes, std::span<const Index> bit_of_sample,
                     std::span<const Index> plane_start, Index n_words, Index first_row, Index last_row,
                     std::span<Word> words);

}  // namespace interplay
