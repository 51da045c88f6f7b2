// Carry-save adders on registers of bits: lanes are added up bit by bit, in parallel (positional popcount).
#pragma once

#include "kernels/lowest_bit-inl.hpp"

namespace {

// Of AND, OR and XOR. Simd is as in lane_kernels-inl.hpp.
template <class Simd>
struct CarrySaveAdder {
  using Bits = typename Simd::Bits;

  // Two bits of the same weight per lane. The second is kept as its difference (XOR) from the first: two adders then
  // take eight operations (Demenkov, Kojevnikov, Kulikov, Yaroslavtsev, 2010) instead of ten.
  struct TwoBits {
    Bits first, differ;
  };
  static TwoBits two_bits(const Bits& first, const Bits& second) { return {first, Simd::xor_bits(first, second)}; }

  // sum + a + b = 2 · (the two bits returned) + the new sum
  INTERPLAY_INLINE static TwoBits add_four(Bits& sum, const TwoBits& a, const TwoBits& b) {
    const Bits with_a = Simd::xor_bits(sum, a.differ);
    const Bits carry_differs = Simd::or_bits(a.differ, Simd::xor_bits(a.first, sum));  // from with_a
    const Bits other_carry_differs = Simd::and_not_bits(b.differ, Simd::xor_bits(b.first, with_a));
    sum = Simd::xor_bits(with_a, b.differ);
    return {Simd::xor_bits(carry_differs, with_a), Simd::xor_bits(carry_differs, other_carry_differs)};
  }

  // sum + a = 2 · (the bit returned) + the new sum
  INTERPLAY_INLINE static Bits add_two(Bits& sum, const TwoBits& a) {
    const Bits carry = Simd::xor_bits(a.first, Simd::and_bits(a.differ, Simd::xor_bits(a.first, sum)));
    sum = Simd::xor_bits(sum, a.differ);
    return carry;
  }
};

}  // namespace
