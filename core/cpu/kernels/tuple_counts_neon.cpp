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
  using Bits = uint64x2_t;
  uint8x16_t counts_u8x16 = vdupq_n_u8(0);
  uint64x2_t sum_u64x2 = vdupq_n_u64(0);
  int16x8_t of_limb_i16x8[Limbs];
  int32x4_t of_limb_i32x4[Limbs];

  NeonSums() {
    for (int limb = 0; limb < Limbs; ++limb) {
      of_limb_i16x8[limb] = vdupq_n_s16(0);
      of_limb_i32x4[limb] = vdupq_n_s32(0);
    }
  }
  static Bits load(const interplay::Word* words) { return vld1q_u64(words); }
  static uint8x16_t counts_of(Bits a, Bits b) { return vcntq_u8(vreinterpretq_u8_u64(vandq_u64(a, b))); }
  void add_scores(int limb, uint8x16_t counts, const std::int8_t* scores) {
    const int8x16_t of_bytes = vld1q_s8(scores), n = vreinterpretq_s8_u8(counts);
    int16x8_t sum = vmlal_s8(of_limb_i16x8[limb], vget_low_s8(n), vget_low_s8(of_bytes));
    of_limb_i16x8[limb] = vmlal_high_s8(sum, n, of_bytes);
  }
  void add_counts(uint8x16_t counts) { counts_u8x16 = vaddq_u8(counts_u8x16, counts); }
  void flush() {
    sum_u64x2 = vpadalq_u32(sum_u64x2, vpaddlq_u16(vpaddlq_u8(counts_u8x16)));
    counts_u8x16 = vdupq_n_u8(0);
    for (int limb = 0; limb < Limbs; ++limb) {
      of_limb_i32x4[limb] = vpadalq_s16(of_limb_i32x4[limb], of_limb_i16x8[limb]);
      of_limb_i16x8[limb] = vdupq_n_s16(0);
    }
  }
  interplay::Index total() const { return static_cast<interplay::Index>(vaddvq_u64(sum_u64x2)); }
  interplay::Index sum(int limb) const { return vaddvq_s32(of_limb_i32x4[limb]); }
};

}  // namespace

void interplay::sum_neon(const SumJob& job) { sum_cells<NeonSums>(job); }

void interplay::count_neon(const CountJob& job) { count_cells<NeonLanes>(job); }
