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

// Counts of bytes are at most 8 and scores at most 128: 16 products of each half fit 16 bits, as do 16 counts a byte.
template <int Limbs>
struct NeonSums {
  static constexpr interplay::Index words = 2, steps = 16;
  static constexpr bool in_halves = false;
  uint8x16_t counts_u8x16[4];  // since the last flush, as the next
  int16x8_t of_limb_i16x8[Limbs][4];
  uint32x4_t counts_u32x4[4];
  int32x4_t of_limb_i32x4[Limbs][4];

  NeonSums() {
    for (int i = 0; i < 4; ++i) {
      counts_u8x16[i] = vdupq_n_u8(0);
      counts_u32x4[i] = vdupq_n_u32(0);
      for (int limb = 0; limb < Limbs; ++limb) {
        of_limb_i16x8[limb][i] = vdupq_n_s16(0);
        of_limb_i32x4[limb][i] = vdupq_n_s32(0);
      }
    }
  }
  void add(const interplay::Word* prefix, const interplay::Word* const* planes, interplay::Index w,
           const std::int8_t* const* limbs) {
    const uint64x2_t of_prefix = vld1q_u64(prefix + w);
    for (int i = 0; i < 4; ++i) {
      const uint8x16_t counts = vcntq_u8(vreinterpretq_u8_u64(vandq_u64(of_prefix, vld1q_u64(planes[i] + w))));
      counts_u8x16[i] = vaddq_u8(counts_u8x16[i], counts);
      const int8x16_t n = vreinterpretq_s8_u8(counts);
      for (int limb = 0; limb < Limbs; ++limb) {
        const int8x16_t scores = vld1q_s8(limbs[limb] + 8 * w);
        const int16x8_t sum = vmlal_s8(of_limb_i16x8[limb][i], vget_low_s8(n), vget_low_s8(scores));
        of_limb_i16x8[limb][i] = vmlal_high_s8(sum, n, scores);
      }
    }
  }
  void flush() {
    for (int i = 0; i < 4; ++i) {
      counts_u32x4[i] = vpadalq_u16(counts_u32x4[i], vpaddlq_u8(counts_u8x16[i]));
      counts_u8x16[i] = vdupq_n_u8(0);
      for (int limb = 0; limb < Limbs; ++limb) {
        of_limb_i32x4[limb][i] = vpadalq_s16(of_limb_i32x4[limb][i], of_limb_i16x8[limb][i]);
        of_limb_i16x8[limb][i] = vdupq_n_s16(0);
      }
    }
  }
  void store(interplay::Count* counts, interplay::Count* sums) const {
    for (int i = 0; i < 4; ++i) {
      counts[i] = vaddvq_u32(counts_u32x4[i]);
      sums[i] = static_cast<interplay::Count>(vaddvq_s32(of_limb_i32x4[0][i]));
      if (Limbs > 1) sums[i] += static_cast<interplay::Count>(vaddvq_s32(of_limb_i32x4[Limbs - 1][i])) << 8;
    }
  }
};

}  // namespace

void interplay::sum_neon(const SumJob& job) { sum_cells<NeonSums>(job); }

void interplay::count_neon(const CountJob& job) { count_cells<NeonLanes>(job); }
