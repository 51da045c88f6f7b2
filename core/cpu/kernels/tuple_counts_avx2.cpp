// AVX2 has no popcount of its own: look up each nibble with a byte shuffle and add the bytes up.
#include <immintrin.h>

#include "kernels/tuple_counts-inl.hpp"

namespace {

struct Avx2Lanes {
  static constexpr interplay::Index words = 4;
  __m256i sum_u64x4 = _mm256_setzero_si256();

  void add_popcount(const interplay::Word* a, const interplay::Word* b) {
    const __m256i bits_of_nibble_u8x32 = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low_u8x32 = _mm256_set1_epi8(15);
    const __m256i both = _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)),
                                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
    const __m256i lower = _mm256_shuffle_epi8(bits_of_nibble_u8x32, _mm256_and_si256(both, low_u8x32));
    const __m256i upper =
        _mm256_shuffle_epi8(bits_of_nibble_u8x32, _mm256_and_si256(_mm256_srli_epi16(both, 4), low_u8x32));
    sum_u64x4 = _mm256_add_epi64(sum_u64x4, _mm256_sad_epu8(_mm256_add_epi8(lower, upper), _mm256_setzero_si256()));
  }

  interplay::Index total() const {
    const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(sum_u64x4), _mm256_extracti128_si256(sum_u64x4, 1));
    return _mm_cvtsi128_si64(pair) + _mm_extract_epi64(pair, 1);
  }
};

// Counts of bytes are at most 8 and scores at most 128: a sum of two products is at most 2048, and 16 of these fit 16
// bits, as do 16 counts a byte.
template <int Limbs>
struct Avx2Sums {
  static constexpr interplay::Index words = 4, steps = 16;
  static constexpr bool in_halves = true;
  __m256i counts_u8x32[4], of_limb_i16x16[Limbs][4];  // since the last flush
  __m256i counts_u64x4[4], of_limb_i32x8[Limbs][4];

  Avx2Sums() {
    for (int i = 0; i < 4; ++i) {
      counts_u8x32[i] = counts_u64x4[i] = _mm256_setzero_si256();
      for (int limb = 0; limb < Limbs; ++limb) of_limb_i16x16[limb][i] = of_limb_i32x8[limb][i] = counts_u8x32[i];
    }
  }

  static __m256i load(const void* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  // The lower nibbles of four words, then the upper ones.
  static void halve(const interplay::Word* row, interplay::Index n_words, interplay::Word* halves) {
    const __m256i low_u8x32 = _mm256_set1_epi8(15);
    for (interplay::Index w = 0; w < n_words; w += 4, halves += 8) {
      const __m256i bits = load(row + w);
      _mm256_store_si256(reinterpret_cast<__m256i*>(halves), _mm256_and_si256(bits, low_u8x32));
      _mm256_store_si256(reinterpret_cast<__m256i*>(halves + 4),
                         _mm256_and_si256(_mm256_srli_epi16(bits, 4), low_u8x32));
    }
  }
  void add(const interplay::Word* prefix, const interplay::Word* const* planes, interplay::Index w,
           const std::int8_t* const* limbs) {
    const __m256i bits_of_nibble_u8x32 = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i lower_of_prefix = load(prefix + 2 * w), upper_of_prefix = load(prefix + 2 * w + 4);
    __m256i scores_i8x32[Limbs];
    for (int limb = 0; limb < Limbs; ++limb) scores_i8x32[limb] = load(limbs[limb] + 8 * w);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i lower = _mm256_and_si256(lower_of_prefix, load(planes[i] + 2 * w));
      const __m256i upper = _mm256_and_si256(upper_of_prefix, load(planes[i] + 2 * w + 4));
      const __m256i counts = _mm256_add_epi8(_mm256_shuffle_epi8(bits_of_nibble_u8x32, lower),
                                             _mm256_shuffle_epi8(bits_of_nibble_u8x32, upper));
      counts_u8x32[i] = _mm256_add_epi8(counts_u8x32[i], counts);
#pragma GCC unroll 2
      for (int limb = 0; limb < Limbs; ++limb) {
        const __m256i products = _mm256_maddubs_epi16(counts, scores_i8x32[limb]);
        of_limb_i16x16[limb][i] = _mm256_add_epi16(of_limb_i16x16[limb][i], products);
      }
    }
  }
  void flush() {
    for (int i = 0; i < 4; ++i) {
      counts_u64x4[i] = _mm256_add_epi64(counts_u64x4[i], _mm256_sad_epu8(counts_u8x32[i], _mm256_setzero_si256()));
      counts_u8x32[i] = _mm256_setzero_si256();
      for (int limb = 0; limb < Limbs; ++limb) {
        const __m256i widened = _mm256_madd_epi16(of_limb_i16x16[limb][i], _mm256_set1_epi16(1));
        of_limb_i32x8[limb][i] = _mm256_add_epi32(of_limb_i32x8[limb][i], widened);
        of_limb_i16x16[limb][i] = _mm256_setzero_si256();
      }
    }
  }
  // The sum of the lanes of each of four registers.
  static __m128i totals_of(const __m256i (&i32x8)[4]) {
    const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(i32x8[0], i32x8[1]), _mm256_hadd_epi32(i32x8[2], i32x8[3]));
    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  }
  void store(interplay::Count* counts, interplay::Count* sums) const {
    // The upper halves of the 64-bit counts are 0.
    _mm_store_si128(reinterpret_cast<__m128i*>(counts), totals_of(counts_u64x4));
    __m128i sum = totals_of(of_limb_i32x8[0]);
    if constexpr (Limbs > 1) sum = _mm_add_epi32(sum, _mm_slli_epi32(totals_of(of_limb_i32x8[1]), 8));
    _mm_store_si128(reinterpret_cast<__m128i*>(sums), sum);
  }
};

}  // namespace

void interplay::sum_avx2(const SumJob& job) { sum_cells<Avx2Sums>(job); }

void interplay::count_avx2(const CountJob& job) { count_cells<Avx2Lanes>(job); }
