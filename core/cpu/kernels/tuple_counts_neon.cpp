// NEON counts bits per byte; the bytes are widened and added pairwise.
#include <arm_neon.h>

#include "kernels/tuple_counts-inl.hpp"

namespace {

struct NeonLanes {
  static constexpr interplay::Index words = 2;
  uint64x2_t sum_u64x2 = vdupq_n_u64(0);

  void add_popcount(const interplay::Word* a, const interplay::Word* b) {
    const uint64x2_t both = vandq_u64(vld1q_u64(a), vld1q_u64(b));
    const uint8x16_t bits_u8x16 = vcntq_u8(vreinterpretq_u8_u64(both));
    sum_u64x2 = vpadalq_u32(sum_u64x2, vpaddlq_u16(vpaddlq_u8(bits_u8x16)));
  }

  interplay::Index total() const { return static_cast<interplay::Index>(vaddvq_u64(sum_u64x2)); }
};

}  // namespace

void interplay::count_neon(const CountJob& job) { count_cells<NeonLanes>(job); }
