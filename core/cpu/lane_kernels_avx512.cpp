// The registers stay 256 bits wide: what AVX-512 adds here is logic on three operands, so that a carry-save adder takes
// two instructions instead of five.
#include "avx2_simd.hpp"
#include "lane_kernels-inl.hpp"

namespace {

struct Avx512Simd : Avx2Simd {
  static void add3(Bits& carry, Bits& sum, Bits a, Bits b, Bits c) {
    carry = _mm256_ternarylogic_epi64(a, b, c, 0xe8);  // majority
    sum = _mm256_ternarylogic_epi64(a, b, c, 0x96);    // parity
  }
};

}  // namespace

const interplay::LaneKernels& interplay::lane_kernels_avx512() {
  static constexpr LaneKernels kernels = make_lane_kernels<Avx512Simd>();
  return kernels;
}
