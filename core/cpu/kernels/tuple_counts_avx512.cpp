// AVX-512 with VPOPCNTDQ counts the bits of eight words in one instruction.
#include <immintrin.h>

#include "kernels/tuple_counts-inl.hpp"

namespace {

struct Avx512Lanes {
  static constexpr interplay::Index words = 8;
  __m512i sum_u64x8 = _mm512_setzero_si512();

  void add_popcount(const interplay::Word* a, const interplay::Word* b) {
    const __m512i both = _mm512_and_si512(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
    sum_u64x8 = _mm512_add_epi64(sum_u64x8, _mm512_popcnt_epi64(both));
  }

  interplay::Index total() const { return _mm512_reduce_add_epi64(sum_u64x8); }
};

// Counts of bytes (BITALG), and their products with scores added up by fours (VNNI): 32 bits wide, no overflow.
template <int Limbs>
struct Avx512Sums {
  static constexpr interplay::Index words = 8, steps = interplay::Index{1} << 20;
  static constexpr bool in_halves = false;
  __m512i counts_i32x16[4], of_limb_i32x16[Limbs][4];

  Avx512Sums() {
    for (int i = 0; i < 4; ++i) {
      counts_i32x16[i] = _mm512_setzero_si512();
      for (int limb = 0; limb < Limbs; ++limb) of_limb_i32x16[limb][i] = _mm512_setzero_si512();
    }
  }
  void add(const interplay::Word* prefix, const interplay::Word* const* planes, interplay::Index w,
           const std::int8_t* const* limbs) {
    const __m512i of_prefix = _mm512_loadu_si512(prefix + w), ones_i8x64 = _mm512_set1_epi8(1);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512i counts = _mm512_popcnt_epi8(_mm512_and_si512(of_prefix, _mm512_loadu_si512(planes[i] + w)));
      counts_i32x16[i] = _mm512_dpbusd_epi32(counts_i32x16[i], counts, ones_i8x64);
#pragma GCC unroll 2
      for (int limb = 0; limb < Limbs; ++limb) {
        const __m512i scores = _mm512_loadu_si512(limbs[limb] + 8 * w);
        of_limb_i32x16[limb][i] = _mm512_dpbusd_epi32(of_limb_i32x16[limb][i], counts, scores);
      }
    }
  }
  void flush() {}
  // The sum of the lanes of each of four registers.
  static __m128i totals_of(const __m512i (&i32x16)[4]) {
    __m256i half[4];
    for (int i = 0; i < 4; ++i) {
      half[i] = _mm256_add_epi32(_mm512_castsi512_si256(i32x16[i]), _mm512_extracti64x4_epi64(i32x16[i], 1));
    }
    const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(half[0], half[1]), _mm256_hadd_epi32(half[2], half[3]));
    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  }
  void store(interplay::Count* counts, interplay::Count* sums) const {
    _mm_store_si128(reinterpret_cast<__m128i*>(counts), totals_of(counts_i32x16));
    __m128i sum = totals_of(of_limb_i32x16[0]);
    if constexpr (Limbs > 1) sum = _mm_add_epi32(sum, _mm_slli_epi32(totals_of(of_limb_i32x16[1]), 8));
    _mm_store_si128(reinterpret_cast<__m128i*>(sums), sum);
  }
};

}  // namespace

void interplay::sum_avx512(const SumJob& job) { sum_cells<Avx512Sums>(job); }

void interplay::count_avx512(const CountJob& job) { count_cells<Avx512Lanes>(job); }
