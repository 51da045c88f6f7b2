// AVX2 registers for the lane kernels. Include only from files built for AVX2 or more.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace {

struct Avx2Simd {
  using Bits = __m256i;    // 256 × 1 bit
  using Counts = __m256i;  // 16 × u16
  using Floats = __m256;   // 8 × f32

  static Bits zero_bits() { return _mm256_setzero_si256(); }
  static Bits load_bits(const std::uint64_t* words) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
  }
  static Bits and_bits(Bits a, Bits b) { return _mm256_and_si256(a, b); }
  static Bits xor_bits(Bits a, Bits b) { return _mm256_xor_si256(a, b); }
  // a + b + c = 2 · carry + sum, bit by bit. `sum` may be one of the summands.
  static void add3(Bits& carry, Bits& sum, Bits a, Bits b, Bits c) {
    const Bits differ = _mm256_xor_si256(a, b);
    carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(differ, c));
    sum = _mm256_xor_si256(differ, c);
  }

  static void store_8_plus(std::uint16_t* target, const std::uint16_t* values, std::uint16_t offset) {
    const __m128i sum = _mm_add_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(values)),
                                      _mm_set1_epi16(static_cast<short>(offset)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target), sum);
  }

  // Bit l of plane i is bit i of count l. Bytes first, 32 lanes at a time; the shuffle puts the lanes where the later
  // interleaving of low and high bytes leaves them in order.
  template <int N>
  static void planes_to_counts(const Bits* planes, std::uint16_t* counts) {
    alignas(32) std::uint32_t words[N][8];
    for (int plane = 0; plane < N; ++plane) _mm256_store_si256(reinterpret_cast<__m256i*>(words[plane]), planes[plane]);
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2,  //
                                            1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
    constexpr int low_planes = N < 8 ? N : 8;
    for (int group = 0; group < 8; ++group) {
      const auto bytes = [&](int first, int last) {
        __m256i sum = _mm256_setzero_si256();
        for (int plane = last - 1; plane >= first; --plane) {
          const __m256i lanes = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(words[plane][group])), spread);
          const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(lanes, bit), bit);  // −1 where set
          sum = _mm256_sub_epi8(_mm256_add_epi8(sum, sum), is_set);
        }
        return sum;
      };
      const __m256i low = bytes(0, low_planes);
      const __m256i high = N > 8 ? bytes(8, N) : _mm256_setzero_si256();
      __m256i* target = reinterpret_cast<__m256i*>(counts + 32 * group);
      _mm256_store_si256(target, _mm256_unpacklo_epi8(low, high));
      _mm256_store_si256(target + 1, _mm256_unpackhi_epi8(low, high));
    }
  }

  static Counts load_counts(const std::uint16_t* counts) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(counts));
  }
  static void store_counts(std::uint16_t* target, Counts counts) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(target), counts);
  }
  static Counts set_counts(std::uint16_t count) { return _mm256_set1_epi16(static_cast<short>(count)); }
  static Counts add_counts(Counts a, Counts b) { return _mm256_add_epi16(a, b); }
  static Counts sub_counts(Counts a, Counts b) { return _mm256_sub_epi16(a, b); }
  static Floats low_floats(Counts a) { return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(a))); }
  static Floats high_floats(Counts a) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm256_extracti128_si256(a, 1)));
  }

  static Floats set_float(float x) { return _mm256_set1_ps(x); }
  static Floats load_floats(const float* x) { return _mm256_loadu_ps(x); }
  static void store_floats(float* target, Floats x) { _mm256_storeu_ps(target, x); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats minimum(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats negative_multiply_add(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
  static Floats reciprocal(Floats a) { return _mm256_rcp_ps(a); }  // to 1.5 · 2⁻¹²
  static int at_least(Floats a, Floats b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); }
};

}  // namespace
