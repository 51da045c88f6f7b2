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

}  // namespace

void interplay::count_avx2(const CountJob& job) { count_cells<Avx2Lanes>(job); }
