// PEXT where the processor has none.
#pragma once

#include <bit>
#include <cstdint>

namespace {

// The bits of a word at the set bits of a mask, side by side. As many steps as there are such bits that are set.
inline std::uint64_t extract_bits_in_steps(std::uint64_t word, std::uint64_t mask) {
  std::uint64_t bits = 0;
  for (std::uint64_t left = word & mask; left; left &= left - 1) {
    bits |= std::uint64_t{1} << std::popcount(mask & ((left & (~left + 1)) - 1));
  }
  return bits;
}

}  // namespace
