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
  using Bits = __m512i;
  __m512i counts_i32x16 = _mm512_setzero_si512(), of_limb_i32x16[Limbs];

  Avx512Sums() {
    for (int limb = 0; limb < Limbs; ++limb) of_limb_i32x16[limb] = _mm512_setzero_si512();
  }
  static Bits load(const interplay::Word* words) { return _mm512_loadu_si512(words); }
  static __m512i counts_of(Bits a, Bits b) { return _mm512_popcnt_epi8(_mm512_and_si512(a, b)); }
  void add_scores(int limb, __m512i counts, const std::int8_t* scores) {
    of_limb_i32x16[limb] = _mm512_dpbusd_epi32(of_limb_i32x16[limb], counts, _mm512_load_si512(scores));
  }
  void add_counts(__m512i counts) { counts_i32x16 = _mm512_dpbusd_epi32(counts_i32x16, counts, _mm512_set1_epi8(1)); }
  void flush() {}
  interplay::Index total() const { return _mm512_reduce_add_epi32(counts_i32x16); }
  interplay::Index sum(int limb) const { return _mm512_reduce_add_epi32(of_limb_i32x16[limb]); }
};

}  // namespace

void interplay::sum_avx512(const SumJob& job) { sum_cells<Avx512Sums>(job); }

void interplay::count_avx512(const CountJob& job) { count_cells<Avx512Lanes>(job); }
