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
  using Bits = __m256i;
  __m256i counts_u8x32 = _mm256_setzero_si256(), sum_u64x4 = _mm256_setzero_si256();
  __m256i of_limb_i16x16[Limbs], of_limb_i32x8[Limbs];

  Avx2Sums() {
    for (int limb = 0; limb < Limbs; ++limb) of_limb_i16x16[limb] = of_limb_i32x8[limb] = _mm256_setzero_si256();
  }
  static Bits load(const interplay::Word* words) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)); }
  static __m256i counts_of(Bits a, Bits b) {
    const __m256i bits_of_nibble_u8x32 = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low_u8x32 = _mm256_set1_epi8(15), both = _mm256_and_si256(a, b);
    const __m256i lower = _mm256_shuffle_epi8(bits_of_nibble_u8x32, _mm256_and_si256(both, low_u8x32));
    const __m256i upper =
        _mm256_shuffle_epi8(bits_of_nibble_u8x32, _mm256_and_si256(_mm256_srli_epi16(both, 4), low_u8x32));
    return _mm256_add_epi8(lower, upper);
  }
  void add_scores(int limb, __m256i counts, const std::int8_t* scores) {
    const __m256i of_bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(scores));
    of_limb_i16x16[limb] = _mm256_add_epi16(of_limb_i16x16[limb], _mm256_maddubs_epi16(counts, of_bytes));
  }
  void add_counts(__m256i counts) { counts_u8x32 = _mm256_add_epi8(counts_u8x32, counts); }
  void flush() {
    sum_u64x4 = _mm256_add_epi64(sum_u64x4, _mm256_sad_epu8(counts_u8x32, _mm256_setzero_si256()));
    counts_u8x32 = _mm256_setzero_si256();
    for (int limb = 0; limb < Limbs; ++limb) {
      const __m256i widened = _mm256_madd_epi16(of_limb_i16x16[limb], _mm256_set1_epi16(1));
      of_limb_i32x8[limb] = _mm256_add_epi32(of_limb_i32x8[limb], widened);
      of_limb_i16x16[limb] = _mm256_setzero_si256();
    }
  }
  interplay::Index total() const {
    const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(sum_u64x4), _mm256_extracti128_si256(sum_u64x4, 1));
    return _mm_cvtsi128_si64(pair) + _mm_extract_epi64(pair, 1);
  }
  interplay::Index sum(int limb) const {
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(of_limb_i32x8[limb]), _mm256_extracti128_si256(of_limb_i32x8[limb], 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
  }
};

}  // namespace

void interplay::sum_avx2(const SumJob& job) { sum_cells<Avx2Sums>(job); }

void interplay::count_avx2(const CountJob& job) { count_cells<Avx2Lanes>(job); }
