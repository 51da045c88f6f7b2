// Plain arrays in place of registers: right everywhere, and compilers turn the loops into the base instruction set of
// the processor (SSE2, NEON).
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/extract_bits-inl.hpp"
#include "kernels/lane_kernels-inl.hpp"

namespace {

// A register whose i-th lane is of(i).
template <class Register, class Of>
Register each_lane(Of of) {
  Register r;
  int i = 0;
  for (auto& lane : r.lane) lane = static_cast<std::remove_reference_t<decltype(lane)>>(of(i++));
  return r;
}
template <class Register, class Source>
Register load_lanes(const Source* source) {
  Register r;
  std::memcpy(r.lane, source, sizeof r.lane);
  return r;
}

struct PortableSimd {
  struct Bits {
    std::uint64_t lane[4];
  };
  struct Counts {
    std::uint16_t lane[16];
  };
  struct Floats {
    float lane[8];
  };
  static constexpr int kFloats = 8;

  static Bits zero_bits() { return Bits{{0, 0, 0, 0}}; }
  static Bits load_bits(const std::uint64_t* words) { return load_lanes<Bits>(words); }
  static void store_bits(std::uint64_t* words, const Bits& a) { std::memcpy(words, a.lane, sizeof a.lane); }
  static Bits set_words(std::uint64_t word) { return Bits{{word, word, word, word}}; }
  template <int N>
  static Bits shift_left(const Bits& a) {
    return each_lane<Bits>([&](int i) { return a.lane[i] << N; });
  }
  template <int N>
  static Bits shift_right(const Bits& a) {
    return each_lane<Bits>([&](int i) { return a.lane[i] >> N; });
  }
  static void transpose_words(const Bits& a, const Bits& b, const Bits& c, const Bits& d, Bits* to) {
    for (int i = 0; i < 4; ++i) to[i] = Bits{{a.lane[i], b.lane[i], c.lane[i], d.lane[i]}};
  }
  static Bits and_bits(const Bits& a, const Bits& b) {
    return each_lane<Bits>([&](int i) { return a.lane[i] & b.lane[i]; });
  }
  static Bits xor_bits(const Bits& a, const Bits& b) {
    return each_lane<Bits>([&](int i) { return a.lane[i] ^ b.lane[i]; });
  }
  static Bits or_bits(const Bits& a, const Bits& b) {
    return each_lane<Bits>([&](int i) { return a.lane[i] | b.lane[i]; });
  }
  static Bits and_not_bits(const Bits& a, const Bits& b) {
    return each_lane<Bits>([&](int i) { return ~a.lane[i] & b.lane[i]; });
  }

  static bool is_zero(const Bits& a) { return (a.lane[0] | a.lane[1] | a.lane[2] | a.lane[3]) == 0; }

  struct Eight {
    std::uint16_t lane[8];
  };
  static Eight set_8(std::uint16_t x) {
    return each_lane<Eight>([&](int) { return x; });
  }
  static Eight add_8(const Eight& a, const Eight& b) {
    return each_lane<Eight>([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static Eight widen_8(const std::uint8_t* bytes) {
    return each_lane<Eight>([&](int i) { return bytes[i]; });
  }
  static void store_8(std::uint16_t* target, const Eight& x) { std::memcpy(target, x.lane, sizeof x.lane); }

  static std::uint64_t extract_bits(std::uint64_t word, std::uint64_t mask) {
    return extract_bits_in_steps(word, mask);
  }
  static int count_bits(std::uint64_t word) { return std::popcount(word); }

  template <int N>
  static void planes_to_counts(const Bits* planes, std::uint16_t* counts) {
    for (int lane = 0; lane < kLanes; ++lane) {
      unsigned count = 0;
      const int bit = interplay::bit_of_lane(lane);
      for (int plane = 0; plane < N; ++plane) {
        count |= static_cast<unsigned>(planes[plane].lane[bit / 64] >> (bit % 64) & 1) << plane;
      }
      counts[lane] = static_cast<std::uint16_t>(count);
    }
  }

  template <int N, class Store>
  INTERPLAY_INLINE static void planes_to_byte_pairs(const Bits* class_0, const Bits* class_1, const Store& store) {
    std::uint16_t of_0[kLanes], of_1[kLanes];
    planes_to_counts<N>(class_0, of_0);
    planes_to_counts<N>(class_1, of_1);
    for (int piece = 0; piece < kLanes / 16; ++piece) {
      const std::uint16_t *a = of_0 + 16 * piece, *b = of_1 + 16 * piece;
      store(piece, each_lane<Counts>([&](int i) { return (a[i] & 0xff) | (b[i] & 0xff) << 8; }));
    }
  }

  static Counts load_counts(const std::uint16_t* counts) { return load_lanes<Counts>(counts); }
  static void store_counts(std::uint16_t* target, const Counts& counts) {
    std::memcpy(target, counts.lane, sizeof counts.lane);
  }
  static Counts set_counts(std::uint16_t count) {
    return each_lane<Counts>([&](int) { return count; });
  }
  static Counts sub_counts(const Counts& a, const Counts& b) {
    return each_lane<Counts>([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  static Counts min_counts(const Counts& a, const Counts& b) {
    return each_lane<Counts>([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Counts add_counts(const Counts& a, const Counts& b) {
    return each_lane<Counts>([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static Counts and_counts(const Counts& a, const Counts& b) {
    return each_lane<Counts>([&](int i) { return a.lane[i] & b.lane[i]; });
  }
  static Counts or_counts(const Counts& a, const Counts& b) {
    return each_lane<Counts>([&](int i) { return a.lane[i] | b.lane[i]; });
  }
  static bool are_below_16(const Counts& a) {
    for (const std::uint16_t lane : a.lane) {
      if (lane >= 16) return false;
    }
    return true;
  }

  // Two classes side by side in bytes: 16 lanes in a register.
  static Counts load_byte_pairs(const std::uint16_t* pairs) {  // widened: 8 lanes
    return each_lane<Counts>([&](int i) { return byte_of(pairs[i / 2], i % 2); });
  }
  static Counts low_byte_pairs(const Counts& bytes) { return load_byte_pairs(bytes.lane); }
  static Counts high_byte_pairs(const Counts& bytes) { return load_byte_pairs(bytes.lane + 8); }
  static void store_byte_pairs(std::uint32_t* target, const Counts& bytes) {  // widened
    for (int i = 0; i < 16; ++i) target[i] = byte_of(bytes.lane[i], 0) | byte_of(bytes.lane[i], 1) << 16;
  }
  static Counts narrow_pairs(const Counts& low, const Counts& high) {  // modulo 256
    return each_lane<Counts>([&](int i) {
      const std::uint16_t* pair = (i < 8 ? low : high).lane + 2 * (i % 8);
      return (pair[0] & 0xff) | (pair[1] & 0xff) << 8;
    });
  }
  static Counts sub_bytes(const Counts& a, const Counts& b) {
    return each_byte(a, [&](int i, int byte, unsigned of_a) { return of_a - byte_of(b.lane[i], byte); });
  }
  static Counts sum_of_bytes(const Counts& pairs) {
    return each_lane<Counts>([&](int i) { return byte_of(pairs.lane[i], 0) + byte_of(pairs.lane[i], 1); });
  }

  struct Table {
    std::uint8_t lane[16];
  };
  static Table load_table(const std::uint8_t* entries) { return load_lanes<Table>(entries); }
  // The entry that each byte names; something if it is above 15.
  static Counts look_up(const Table& table, const Counts& bytes) { return look_up(table, table, bytes); }
  static Counts look_up(const Table& class_0, const Table& class_1, const Counts& pairs) {
    return each_byte(pairs, [&](int, int byte, unsigned of) { return (byte ? class_1 : class_0).lane[of & 15]; });
  }

  static unsigned byte_of(std::uint16_t pair, int byte) { return pair >> (8 * byte) & 0xffu; }
  template <class Of>
  static Counts each_byte(const Counts& a, Of of) {
    return each_lane<Counts>([&](int i) {
      return (of(i, 0, byte_of(a.lane[i], 0)) & 0xffu) | (of(i, 1, byte_of(a.lane[i], 1)) & 0xffu) << 8;
    });
  }

  static Counts load_pairs(const std::uint32_t* pairs) {
    return each_lane<Counts>([&](int i) { return pairs[i / 2] >> (i % 2 * 16); });
  }
  static void store_pairs(std::uint32_t* target, const Counts& class_0, const Counts& class_1) {
    for (int i = 0; i < 16; ++i) target[i] = class_0.lane[i] | static_cast<std::uint32_t>(class_1.lane[i]) << 16;
  }
  static Counts set_pairs(std::uint32_t pair) {
    return each_lane<Counts>([&](int i) { return pair >> (i % 2 * 16); });
  }
  static Floats sum_of_products(const Counts& pairs, const Counts& factors) {
    const auto product = [&](int i) {
      return static_cast<std::int16_t>(pairs.lane[i]) * static_cast<std::int16_t>(factors.lane[i]);
    };
    return each_lane<Floats>([&](int i) { return product(2 * i) + product(2 * i + 1); });
  }
  static Counts low_pairs(const Counts& class_0, const Counts& class_1) { return interleave(class_0, class_1, 0); }
  static Counts high_pairs(const Counts& class_0, const Counts& class_1) { return interleave(class_0, class_1, 8); }
  static Counts interleave(const Counts& class_0, const Counts& class_1, int first) {
    return each_lane<Counts>([&](int i) { return (i % 2 ? class_1 : class_0).lane[first + i / 2]; });
  }
  static Floats low_floats(const Counts& a) {
    return each_lane<Floats>([&](int i) { return a.lane[i]; });
  }
  static Floats high_floats(const Counts& a) {
    return each_lane<Floats>([&](int i) { return a.lane[i + 8]; });
  }

  static void put_in_order(Floats (&)[2]) {}

  struct Ints {
    std::int32_t lane[8];
  };
  static Ints load_ints(const std::int32_t* x) { return load_lanes<Ints>(x); }
  static void store_ints(std::int32_t* target, const Ints& x) { std::memcpy(target, x.lane, sizeof x.lane); }
  static Ints set_int(std::int32_t x) {
    return each_lane<Ints>([&](int) { return x; });
  }
  static Ints sub_ints(const Ints& a, const Ints& b) {
    // Unsigned: lanes after the last hold anything, and their difference may overflow.
    return each_lane<Ints>(
        [&](int i) { return static_cast<std::uint32_t>(a.lane[i]) - static_cast<std::uint32_t>(b.lane[i]); });
  }
  static Floats as_floats(const Ints& a) {
    return each_lane<Floats>([&](int i) { return static_cast<float>(a.lane[i]); });
  }
  static Floats split_exponent(const Floats& x, Floats& mantissa) {
    return each_lane<Floats>([&](int i) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(x.lane[i]);
      mantissa.lane[i] = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000);
      return static_cast<float>(static_cast<int>(bits >> 23) - 127);
    });
  }

  static Floats set_float(float x) {
    return each_lane<Floats>([&](int) { return x; });
  }
  static Floats load_floats(const float* x) { return load_lanes<Floats>(x); }
  static void store_floats(float* target, const Floats& x) { std::memcpy(target, x.lane, sizeof x.lane); }
  static Floats add(const Floats& a, const Floats& b) {
    return each_lane<Floats>([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static Floats subtract(const Floats& a, const Floats& b) {
    return each_lane<Floats>([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  static Floats multiply(const Floats& a, const Floats& b) {
    return each_lane<Floats>([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  static Floats minimum(const Floats& a, const Floats& b) {
    return each_lane<Floats>([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Floats maximum(const Floats& a, const Floats& b) {
    return each_lane<Floats>([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Floats multiply_add(const Floats& a, const Floats& b, const Floats& c) {
    return each_lane<Floats>([&](int i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
  }
  static Floats negative_multiply_add(const Floats& a, const Floats& b, const Floats& c) {
    return each_lane<Floats>([&](int i) { return c.lane[i] - a.lane[i] * b.lane[i]; });
  }
  static Floats reciprocal(const Floats& a) {
    return each_lane<Floats>([&](int i) { return 1.0f / a.lane[i]; });
  }
  static int at_least(const Floats& a, const Floats& b) {
    int mask = 0;
    for (int i = 0; i < 8; ++i) mask |= (a.lane[i] >= b.lane[i]) << i;
    return mask;
  }
};

}  // namespace

namespace interplay {

// Loops over lanes, all unrolled, take compilers longer than intrinsics: these families are compiled in files of their
// own.
void set_portable_paired_kernels(PairedKernels& kernels);
void set_portable_small_cell_kernels(PairedKernels& kernels);

}  // namespace interplay
