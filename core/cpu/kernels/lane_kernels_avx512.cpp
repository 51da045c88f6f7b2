// A row stays 256 bits wide: for counting, AVX-512 adds logic on three operands: a carry-save adder takes two
// instructions instead of five. Bounds have registers of 512 bits.
#include "kernels/avx2_simd.hpp"
#include "kernels/lane_kernels-inl.hpp"

namespace {

struct TernaryAdder {
  using Bits = __m256i;
  struct TwoBits {
    Bits first, second;
  };
  static TwoBits two_bits(Bits first, Bits second) { return {first, second}; }
  static TwoBits add_four(Bits& sum, TwoBits a, TwoBits b) {
    const Bits carry = add_two(sum, a);
    return {carry, add_two(sum, b)};
  }
  static Bits add_two(Bits& sum, TwoBits a) {
    const Bits carry = _mm256_ternarylogic_epi64(sum, a.first, a.second, 0xe8);  // majority
    sum = _mm256_ternarylogic_epi64(sum, a.first, a.second, 0x96);               // parity
    return carry;
  }
};

struct WideSimd {
  using Counts = __m512i;  // 16 × 2 × u16
  using Floats = __m512;   // 16 × f32
  static constexpr int kFloats = 16;

  static Counts load_pairs(const std::uint32_t* pairs) { return _mm512_loadu_si512(pairs); }
  static Counts set_pairs(std::uint32_t pair) { return _mm512_set1_epi32(static_cast<int>(pair)); }
  static Counts sub_counts(Counts a, Counts b) { return _mm512_sub_epi16(a, b); }
  static Counts min_counts(Counts a, Counts b) { return _mm512_min_epu16(a, b); }
  static Floats sum_of_products(Counts pairs, Counts factors) {
    return _mm512_cvtepi32_ps(_mm512_madd_epi16(pairs, factors));
  }

  using Ints = __m512i;  // 16 × i32
  static Ints load_ints(const std::int32_t* x) { return _mm512_loadu_si512(x); }
  static void store_ints(std::int32_t* target, Ints x) { _mm512_storeu_si512(target, x); }
  static Ints set_int(std::int32_t x) { return _mm512_set1_epi32(x); }
  static Ints sub_ints(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  static Floats as_floats(Ints a) { return _mm512_cvtepi32_ps(a); }
  static Floats split_exponent(Floats x, Floats& mantissa) {
    mantissa = _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    return _mm512_getexp_ps(x);
  }

  static Floats set_float(float x) { return _mm512_set1_ps(x); }
  static Floats load_floats(const float* x) { return _mm512_loadu_ps(x); }
  static void store_floats(float* target, Floats x) { _mm512_storeu_ps(target, x); }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats minimum(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats maximum(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats negative_multiply_add(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }
  static Floats reciprocal(Floats a) { return _mm512_rcp14_ps(a); }
  static int at_least(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
};

}  // namespace

const interplay::LaneKernels& interplay::lane_kernels_avx512() {
  static constexpr LaneKernels kernels = make_lane_kernels<Avx2Simd, WideSimd, TernaryAdder>();
  return kernels;
}
