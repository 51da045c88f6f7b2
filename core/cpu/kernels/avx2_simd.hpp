// AVX2 registers for the lane kernels. Include only from files built for AVX2 or more.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/lowest_bit-inl.hpp"

namespace {

struct Avx2Simd {
  using Bits = __m256i;    // 256 × 1 bit
  using Counts = __m256i;  // 16 × u16
  using Floats = __m256;   // 8 × f32
  static constexpr int kFloats = 8;

  static Bits zero_bits() { return _mm256_setzero_si256(); }
  static Bits load_bits(const std::uint64_t* words) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
  }
  static void store_bits(std::uint64_t* words, Bits a) { _mm256_store_si256(reinterpret_cast<__m256i*>(words), a); }
  static Bits set_words(std::uint64_t word) { return _mm256_set1_epi64x(static_cast<long long>(word)); }
  template <int N>
  static Bits shift_left(Bits a) {
    return _mm256_slli_epi64(a, N);
  }
  template <int N>
  static Bits shift_right(Bits a) {
    return _mm256_srli_epi64(a, N);
  }
  // Word j of `to`[i] is word i of the j-th.
  static void transpose_words(Bits a, Bits b, Bits c, Bits d, Bits* to) {
    const Bits even_ab = _mm256_unpacklo_epi64(a, b), odd_ab = _mm256_unpackhi_epi64(a, b);
    const Bits even_cd = _mm256_unpacklo_epi64(c, d), odd_cd = _mm256_unpackhi_epi64(c, d);
    to[0] = _mm256_permute2x128_si256(even_ab, even_cd, 0x20);
    to[1] = _mm256_permute2x128_si256(odd_ab, odd_cd, 0x20);
    to[2] = _mm256_permute2x128_si256(even_ab, even_cd, 0x31);
    to[3] = _mm256_permute2x128_si256(odd_ab, odd_cd, 0x31);
  }
  static Bits and_bits(Bits a, Bits b) { return _mm256_and_si256(a, b); }
  static Bits xor_bits(Bits a, Bits b) { return _mm256_xor_si256(a, b); }

  static Bits or_bits(Bits a, Bits b) { return _mm256_or_si256(a, b); }
  static Bits and_not_bits(Bits a, Bits b) { return _mm256_andnot_si256(a, b); }  // ~a & b

  static bool is_zero(Bits a) { return _mm256_testz_si256(a, a); }

  using Eight = __m128i;  // 8 × u16
  static __m128i set_8(std::uint16_t x) { return _mm_set1_epi16(static_cast<short>(x)); }
  static __m128i add_8(__m128i a, __m128i b) { return _mm_add_epi16(a, b); }
  static __m128i widen_8(const std::uint8_t* bytes) {
    return _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
  }
  static void store_8(std::uint16_t* target, __m128i x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(target), x); }

  // The bits of a word at the set bits of a mask, side by side.
  static std::uint64_t extract_bits(std::uint64_t word, std::uint64_t mask) { return _pext_u64(word, mask); }
  static int count_bits(std::uint64_t word) { return static_cast<int>(_mm_popcnt_u64(word)); }

  // Bit b of plane i is bit i of the count of the lane that has bit b (see bit_of_lane). Two planes are merged into
  // fields of two bits, these into fields of four, these into bytes: byte j of register t then is the count at bit
  // 8·j + t.
  template <int N>
  static void planes_to_counts(const Bits* planes, std::uint16_t* counts) {
    Bits low[8], high[8];
    planes_to_bytes<(N < 8 ? N : 8)>(planes, low);
    if constexpr (N > 8) planes_to_bytes<N - 8>(planes + 8, high);
    for (int t = 0; t < 8; ++t) {
      const Bits upper = N > 8 ? high[t] : _mm256_setzero_si256();
      __m256i* target = reinterpret_cast<__m256i*>(counts + 32 * t);
      _mm256_store_si256(target, _mm256_unpacklo_epi8(low[t], upper));
      _mm256_store_si256(target + 1, _mm256_unpackhi_epi8(low[t], upper));
    }
  }

  // The counts of two classes side by side, modulo 256: store(i, lanes 16 · i … 16 · i + 15).
  template <int N, class Store>
  INTERPLAY_INLINE static void planes_to_byte_pairs(const Bits* class_0, const Bits* class_1, const Store& store) {
    Bits bytes_0[8], bytes_1[8];
    planes_to_bytes<N>(class_0, bytes_0);
    planes_to_bytes<N>(class_1, bytes_1);
    for (int t = 0; t < 8; ++t) {
      store(2 * t, _mm256_unpacklo_epi8(bytes_0[t], bytes_1[t]));
      store(2 * t + 1, _mm256_unpackhi_epi8(bytes_0[t], bytes_1[t]));
    }
  }

  template <int N>
  static void planes_to_bytes(const Bits* planes, Bits* bytes) {
    Bits pairs[2][4], fours[4][2];
    const Bits zero = _mm256_setzero_si256();
    const auto plane = [&](int i) { return i < N ? planes[i] : zero; };
    for (int i = 0; i < 4; ++i) {
      if (2 * i >= N) {
        pairs[0][i] = pairs[1][i] = zero;
      } else {
        merge<1>(plane(2 * i), plane(2 * i + 1), 0x55, pairs[0][i], pairs[1][i]);
      }
    }
    for (int t = 0; t < 2; ++t) {
      for (int i = 0; i < 2; ++i) {
        if (4 * i >= N) {
          fours[t][i] = fours[t + 2][i] = zero;
        } else {
          merge<2>(pairs[t][2 * i], pairs[t][2 * i + 1], 0x33, fours[t][i], fours[t + 2][i]);
        }
      }
    }
    for (int t = 0; t < 4; ++t) merge<4>(fours[t][0], fours[t][1], 0x0f, bytes[t], bytes[t + 4]);
  }

  // Fields of `Width` bits of a below those of b: the even ones, and the odd ones.
  template <int Width>
  static void merge(Bits a, Bits b, int mask, Bits& even, Bits& odd) {
    const Bits m = _mm256_set1_epi8(static_cast<char>(mask));
    even = _mm256_or_si256(_mm256_and_si256(a, m), _mm256_slli_epi64(_mm256_and_si256(b, m), Width));
    odd = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi64(a, Width), m), _mm256_andnot_si256(m, b));
  }

  static Counts load_counts(const std::uint16_t* counts) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(counts));
  }
  static void store_counts(std::uint16_t* target, Counts counts) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(target), counts);
  }
  static Counts set_counts(std::uint16_t count) { return _mm256_set1_epi16(static_cast<short>(count)); }
  static Counts sub_counts(Counts a, Counts b) { return _mm256_sub_epi16(a, b); }
  static Counts min_counts(Counts a, Counts b) { return _mm256_min_epu16(a, b); }
  static Counts add_counts(Counts a, Counts b) { return _mm256_add_epi16(a, b); }
  static Counts and_counts(Counts a, Counts b) { return _mm256_and_si256(a, b); }
  static Counts or_counts(Counts a, Counts b) { return _mm256_or_si256(a, b); }
  static bool are_below_16(Counts a) { return _mm256_testz_si256(a, _mm256_set1_epi16(~15)); }

  // Counts of two classes side by side: 8 lanes in a register.
  static Counts load_pairs(const std::uint32_t* pairs) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(pairs));
  }
  static void store_pairs(std::uint32_t* target, Counts class_0, Counts class_1) {
    const Counts low = low_pairs(class_0, class_1), high = high_pairs(class_0, class_1);
    _mm256_store_si256(reinterpret_cast<__m256i*>(target), _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_store_si256(reinterpret_cast<__m256i*>(target + 8), _mm256_permute2x128_si256(low, high, 0x31));
  }
  static Counts set_pairs(std::uint32_t pair) { return _mm256_set1_epi32(static_cast<int>(pair)); }
  static Floats sum_of_products(Counts pairs, Counts factors) {
    return _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, factors));
  }
  static Counts low_pairs(Counts class_0, Counts class_1) { return _mm256_unpacklo_epi16(class_0, class_1); }
  static Counts high_pairs(Counts class_0, Counts class_1) { return _mm256_unpackhi_epi16(class_0, class_1); }

  // The same in bytes: 16 lanes in a register.
  static Counts load_byte_pairs(const std::uint16_t* pairs) {  // widened: 8 lanes
    return _mm256_cvtepu8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(pairs)));
  }
  static Counts low_byte_pairs(Counts bytes) { return _mm256_cvtepu8_epi16(_mm256_castsi256_si128(bytes)); }
  static Counts high_byte_pairs(Counts bytes) { return _mm256_cvtepu8_epi16(_mm256_extracti128_si256(bytes, 1)); }
  static void store_byte_pairs(std::uint32_t* target, Counts bytes) {  // widened
    _mm256_store_si256(reinterpret_cast<__m256i*>(target), low_byte_pairs(bytes));
    _mm256_store_si256(reinterpret_cast<__m256i*>(target + 8), high_byte_pairs(bytes));
  }
  static Counts narrow_pairs(Counts low, Counts high) {  // modulo 256
    const Counts bytes = _mm256_set1_epi16(0xff);
    const Counts by_quarters = _mm256_packus_epi16(_mm256_and_si256(low, bytes), _mm256_and_si256(high, bytes));
    return _mm256_permute4x64_epi64(by_quarters, 0xd8);
  }
  static Counts sub_bytes(Counts a, Counts b) { return _mm256_sub_epi8(a, b); }
  static Counts sum_of_bytes(Counts pairs) { return _mm256_maddubs_epi16(pairs, _mm256_set1_epi8(1)); }

  using Table = __m256i;  // 16 bytes, twice
  static Table load_table(const std::uint8_t* entries) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entries)));
  }
  // The entry that each byte names; something if it is above 15.
  static Counts look_up(Table table, Counts bytes) { return _mm256_shuffle_epi8(table, bytes); }
  static Counts look_up(Table class_0, Table class_1, Counts pairs) {
    const Counts upper = _mm256_set1_epi16(static_cast<short>(0xff00));
    return _mm256_blendv_epi8(look_up(class_0, pairs), look_up(class_1, pairs), upper);
  }

  // Lanes 0–3 and 8–11, 4–7 and 12–15: the order of unpacking, which moves nothing from one half of a register to the
  // other.
  static Floats low_floats(Counts a) { return _mm256_cvtepi32_ps(_mm256_unpacklo_epi16(a, _mm256_setzero_si256())); }
  static Floats high_floats(Counts a) { return _mm256_cvtepi32_ps(_mm256_unpackhi_epi16(a, _mm256_setzero_si256())); }
  static void put_in_order(Floats (&low_high)[2]) {
    const Floats low = low_high[0], high = low_high[1];
    low_high[0] = _mm256_permute2f128_ps(low, high, 0x20);
    low_high[1] = _mm256_permute2f128_ps(low, high, 0x31);
  }

  using Ints = __m256i;  // 8 × i32
  static Ints load_ints(const std::int32_t* x) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }
  static void store_ints(std::int32_t* target, Ints x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), x); }
  static Ints set_int(std::int32_t x) { return _mm256_set1_epi32(x); }
  static Ints sub_ints(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  static Floats as_floats(Ints a) { return _mm256_cvtepi32_ps(a); }
  // x = 2^exponent · mantissa, from 1 to 2; x is positive and normal.
  static Floats split_exponent(Floats x, Floats& mantissa) {
    const Ints bits = _mm256_castps_si256(x);
    mantissa = _mm256_castsi256_ps(
        _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fffff)), _mm256_set1_epi32(0x3f800000)));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(127)));
  }

  static Floats set_float(float x) { return _mm256_set1_ps(x); }
  static Floats load_floats(const float* x) { return _mm256_loadu_ps(x); }
  static void store_floats(float* target, Floats x) { _mm256_storeu_ps(target, x); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats minimum(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats maximum(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats negative_multiply_add(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
  static Floats reciprocal(Floats a) { return _mm256_rcp_ps(a); }  // to 1.5 · 2⁻¹²
  static int at_least(Floats a, Floats b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); }
};

}  // namespace
