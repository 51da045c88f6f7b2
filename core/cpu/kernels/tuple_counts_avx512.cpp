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

}  // namespace

void interplay::count_avx512(const CountJob& job) { count_cells<Avx512Lanes>(job); }
