// Plain arrays in place of registers: right everywhere, and compilers turn the loops into what the processor's base
// instruction set has (SSE2, NEON).
#include <bit>
#include <cstring>

#include "simd/lane_kernels-inl.hpp"

namespace {

struct PortableSimd {
  struct Bits {
    std::uint64_t word[4];
  };
  struct Counts {
    std::uint16_t lane[16];
  };
  struct Floats {
    float lane[8];
  };
  static constexpr int kFloats = 8;

  static Bits zero_bits() { return Bits{{0, 0, 0, 0}}; }
  static Bits load_bits(const std::uint64_t* words) { return Bits{{words[0], words[1], words[2], words[3]}}; }
  static void store_bits(std::uint64_t* words, const Bits& a) { std::memcpy(words, a.word, sizeof a.word); }
  static Bits set_words(std::uint64_t word) { return Bits{{word, word, word, word}}; }
  template <int N>
  static Bits shift_left(const Bits& a) {
    return Bits{{a.word[0] << N, a.word[1] << N, a.word[2] << N, a.word[3] << N}};
  }
  template <int N>
  static Bits shift_right(const Bits& a) {
    return Bits{{a.word[0] >> N, a.word[1] >> N, a.word[2] >> N, a.word[3] >> N}};
  }
  static void transpose_words(const Bits& a, const Bits& b, const Bits& c, const Bits& d, Bits* to) {
    for (int i = 0; i < 4; ++i) to[i] = Bits{{a.word[i], b.word[i], c.word[i], d.word[i]}};
  }
  static Bits and_bits(const Bits& a, const Bits& b) {
    Bits r;
    for (int i = 0; i < 4; ++i) r.word[i] = a.word[i] & b.word[i];
    return r;
  }
  static Bits xor_bits(const Bits& a, const Bits& b) {
    Bits r;
    for (int i = 0; i < 4; ++i) r.word[i] = a.word[i] ^ b.word[i];
    return r;
  }

  // Adders as in avx2_simd.hpp.
  struct TwoBits {
    Bits first, differ;
  };
  static TwoBits two_bits(const Bits& first, const Bits& second) { return {first, xor_bits(first, second)}; }
  static TwoBits add_four(Bits& sum, const TwoBits& a, const TwoBits& b) {
    TwoBits carries;
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t with_a = sum.word[i] ^ a.differ.word[i];
      const std::uint64_t carry_differs = a.differ.word[i] | (a.first.word[i] ^ sum.word[i]);
      const std::uint64_t other_carry_differs = ~b.differ.word[i] & (b.first.word[i] ^ with_a);
      sum.word[i] = with_a ^ b.differ.word[i];
      carries.first.word[i] = carry_differs ^ with_a;
      carries.differ.word[i] = carry_differs ^ other_carry_differs;
    }
    return carries;
  }
  static Bits add_two(Bits& sum, const TwoBits& a) {
    Bits carry;
    for (int i = 0; i < 4; ++i) {
      carry.word[i] = a.first.word[i] ^ (a.differ.word[i] & (a.first.word[i] ^ sum.word[i]));
      sum.word[i] ^= a.differ.word[i];
    }
    return carry;
  }

  struct Eight {
    std::uint16_t lane[8];
  };
  static Eight set_8(std::uint16_t x) {
    Eight r;
    for (auto& lane : r.lane) lane = x;
    return r;
  }
  static Eight add_8(const Eight& a, const Eight& b) {
    Eight r;
    for (int i = 0; i < 8; ++i) r.lane[i] = static_cast<std::uint16_t>(a.lane[i] + b.lane[i]);
    return r;
  }
  static Eight widen_8(const std::uint8_t* bytes) {
    Eight r;
    for (int i = 0; i < 8; ++i) r.lane[i] = bytes[i];
    return r;
  }
  static void store_8(std::uint16_t* target, const Eight& x) { std::memcpy(target, x.lane, sizeof x.lane); }

  static std::uint64_t extract_bits(std::uint64_t word, std::uint64_t mask) {
    std::uint64_t bits = 0;
    for (std::uint64_t left = word & mask; left; left &= left - 1) {
      bits |= std::uint64_t{1} << count_bits(mask & ((left & (~left + 1)) - 1));
    }
    return bits;
  }
  static int count_bits(std::uint64_t word) { return std::popcount(word); }

  template <int N>
  static void planes_to_counts(const Bits* planes, std::uint16_t* counts) {
    for (int lane = 0; lane < kLanes; ++lane) {
      unsigned count = 0;
      const int bit = interplay::bit_of_lane(lane);
      for (int plane = 0; plane < N; ++plane) {
        count |= static_cast<unsigned>(planes[plane].word[bit / 64] >> (bit % 64) & 1) << plane;
      }
      counts[lane] = static_cast<std::uint16_t>(count);
    }
  }

  static Counts load_counts(const std::uint16_t* counts) {
    Counts r;
    std::memcpy(r.lane, counts, sizeof r.lane);
    return r;
  }
  static void store_counts(std::uint16_t* target, const Counts& counts) {
    std::memcpy(target, counts.lane, sizeof counts.lane);
  }
  static Counts set_counts(std::uint16_t count) {
    Counts r;
    for (auto& lane : r.lane) lane = count;
    return r;
  }
  static Counts sub_counts(const Counts& a, const Counts& b) {
    Counts r;
    for (int i = 0; i < 16; ++i) r.lane[i] = static_cast<std::uint16_t>(a.lane[i] - b.lane[i]);
    return r;
  }
  static Counts load_pairs(const std::uint32_t* pairs) {
    Counts r;
    for (int i = 0; i < 8; ++i) {
      r.lane[2 * i] = static_cast<std::uint16_t>(pairs[i]);
      r.lane[2 * i + 1] = static_cast<std::uint16_t>(pairs[i] >> 16);
    }
    return r;
  }
  static void store_pairs(std::uint32_t* target, const Counts& class_0, const Counts& class_1) {
    for (int i = 0; i < 16; ++i) target[i] = class_0.lane[i] | static_cast<std::uint32_t>(class_1.lane[i]) << 16;
  }
  static Counts set_pairs(std::uint32_t pair) {
    Counts r;
    for (int i = 0; i < 16; ++i) r.lane[i] = static_cast<std::uint16_t>(pair >> (i % 2 * 16));
    return r;
  }
  static Floats sum_of_products(const Counts& pairs, const Counts& factors) {
    const auto product = [&](int i) {
      return static_cast<std::int16_t>(pairs.lane[i]) * static_cast<std::int16_t>(factors.lane[i]);
    };
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = static_cast<float>(product(2 * i) + product(2 * i + 1));
    return r;
  }
  static Counts low_pairs(const Counts& class_0, const Counts& class_1) { return interleave(class_0, class_1, 0); }
  static Counts high_pairs(const Counts& class_0, const Counts& class_1) { return interleave(class_0, class_1, 8); }
  static Counts interleave(const Counts& class_0, const Counts& class_1, int first) {
    Counts r;
    for (int i = 0; i < 8; ++i) {
      r.lane[2 * i] = class_0.lane[first + i];
      r.lane[2 * i + 1] = class_1.lane[first + i];
    }
    return r;
  }
  static Floats low_floats(const Counts& a) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = static_cast<float>(a.lane[i]);
    return r;
  }
  static Floats high_floats(const Counts& a) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = static_cast<float>(a.lane[i + 8]);
    return r;
  }

  static void put_in_order(Floats (&)[2]) {}

  static Floats set_float(float x) {
    Floats r;
    for (auto& lane : r.lane) lane = x;
    return r;
  }
  static Floats load_floats(const float* x) {
    Floats r;
    std::memcpy(r.lane, x, sizeof r.lane);
    return r;
  }
  static void store_floats(float* target, const Floats& x) { std::memcpy(target, x.lane, sizeof x.lane); }
  static Floats add(const Floats& a, const Floats& b) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = a.lane[i] + b.lane[i];
    return r;
  }
  static Floats subtract(const Floats& a, const Floats& b) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = a.lane[i] - b.lane[i];
    return r;
  }
  static Floats multiply(const Floats& a, const Floats& b) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = a.lane[i] * b.lane[i];
    return r;
  }
  static Floats minimum(const Floats& a, const Floats& b) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return r;
  }
  static Floats multiply_add(const Floats& a, const Floats& b, const Floats& c) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = a.lane[i] * b.lane[i] + c.lane[i];
    return r;
  }
  static Floats negative_multiply_add(const Floats& a, const Floats& b, const Floats& c) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = c.lane[i] - a.lane[i] * b.lane[i];
    return r;
  }
  static Floats reciprocal(const Floats& a) {
    Floats r;
    for (int i = 0; i < 8; ++i) r.lane[i] = 1.0f / a.lane[i];
    return r;
  }
  static int at_least(const Floats& a, const Floats& b) {
    int mask = 0;
    for (int i = 0; i < 8; ++i) mask |= (a.lane[i] >= b.lane[i]) << i;
    return mask;
  }
};

}  // namespace

const interplay::LaneKernels& interplay::lane_kernels_portable() {
  static constexpr LaneKernels kernels = make_lane_kernels<PortableSimd>();
  return kernels;
}

const interplay::LaneKernels& interplay::lane_kernels(SimdLevel level) {
  switch (level) {
#if defined(INTERPLAY_X86)
    case SimdLevel::avx2:
      return lane_kernels_avx2();
    case SimdLevel::avx512:
      return lane_kernels_avx512();
#endif
    default:
      return lane_kernels_portable();
  }
}
