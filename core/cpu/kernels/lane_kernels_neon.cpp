// NEON, which every 64-bit Arm processor has: two registers of 128 bits where AVX2 has one of 256. A bit select makes a
// carry-save adder of three operations.
#include <arm_neon.h>

#include "kernels/extract_bits-inl.hpp"
#include "kernels/lane_kernels-inl.hpp"

namespace {

struct NeonSimd {
  struct Bits {  // 256 × 1 bit
    uint64x2_t low, high;
  };
  struct Counts {  // 16 × u16
    uint16x8_t low, high;
  };
  struct Floats {  // 8 × f32
    float32x4_t low, high;
  };
  static constexpr int kFloats = 8;

  static Bits zero_bits() { return {vdupq_n_u64(0), vdupq_n_u64(0)}; }
  static Bits load_bits(const std::uint64_t* words) { return {vld1q_u64(words), vld1q_u64(words + 2)}; }
  static void store_bits(std::uint64_t* words, Bits a) {
    vst1q_u64(words, a.low);
    vst1q_u64(words + 2, a.high);
  }
  static Bits set_words(std::uint64_t word) { return {vdupq_n_u64(word), vdupq_n_u64(word)}; }
  template <int N>
  static Bits shift_left(Bits a) {
    return {vshlq_n_u64(a.low, N), vshlq_n_u64(a.high, N)};
  }
  template <int N>
  static Bits shift_right(Bits a) {
    return {vshrq_n_u64(a.low, N), vshrq_n_u64(a.high, N)};
  }
  static void transpose_words(Bits a, Bits b, Bits c, Bits d, Bits* to) {
    to[0] = {vzip1q_u64(a.low, b.low), vzip1q_u64(c.low, d.low)};
    to[1] = {vzip2q_u64(a.low, b.low), vzip2q_u64(c.low, d.low)};
    to[2] = {vzip1q_u64(a.high, b.high), vzip1q_u64(c.high, d.high)};
    to[3] = {vzip2q_u64(a.high, b.high), vzip2q_u64(c.high, d.high)};
  }
  static Bits and_bits(Bits a, Bits b) { return {vandq_u64(a.low, b.low), vandq_u64(a.high, b.high)}; }
  static Bits xor_bits(Bits a, Bits b) { return {veorq_u64(a.low, b.low), veorq_u64(a.high, b.high)}; }
  static Bits or_bits(Bits a, Bits b) { return {vorrq_u64(a.low, b.low), vorrq_u64(a.high, b.high)}; }
  static Bits and_not_bits(Bits a, Bits b) { return {vbicq_u64(b.low, a.low), vbicq_u64(b.high, a.high)}; }  // ~a & b
  // Where a bit of `mask` is set that of a, else that of b.
  static Bits select_bits(Bits mask, Bits a, Bits b) {
    return {vbslq_u64(mask.low, a.low, b.low), vbslq_u64(mask.high, a.high, b.high)};
  }

  static bool is_zero(Bits a) { return vmaxvq_u32(vreinterpretq_u32_u64(vorrq_u64(a.low, a.high))) == 0; }

  using Eight = uint16x8_t;
  static Eight set_8(std::uint16_t x) { return vdupq_n_u16(x); }
  static Eight add_8(Eight a, Eight b) { return vaddq_u16(a, b); }
  static Eight widen_8(const std::uint8_t* bytes) { return vmovl_u8(vld1_u8(bytes)); }
  static void store_8(std::uint16_t* target, Eight x) { vst1q_u16(target, x); }

  static std::uint64_t extract_bits(std::uint64_t word, std::uint64_t mask) {
    return extract_bits_in_steps(word, mask);
  }
  static int count_bits(std::uint64_t word) { return std::popcount(word); }

  // As in Avx2Simd, whose halves are the registers here: byte j of register t is the count at bit 8 · j + t.
  template <int N>
  static void planes_to_counts(const Bits* planes, std::uint16_t* counts) {
    Bytes low[8], high[8];
    planes_to_bytes<(N < 8 ? N : 8)>(planes, low);
    if constexpr (N > 8) planes_to_bytes<N - 8>(planes + 8, high);
    for (int t = 0; t < 8; ++t) {
      const Bytes upper = N > 8 ? high[t] : Bytes{vdupq_n_u8(0), vdupq_n_u8(0)};
      std::uint16_t* target = counts + 32 * t;
      vst1q_u16(target, vreinterpretq_u16_u8(vzip1q_u8(low[t].low, upper.low)));
      vst1q_u16(target + 8, vreinterpretq_u16_u8(vzip1q_u8(low[t].high, upper.high)));
      vst1q_u16(target + 16, vreinterpretq_u16_u8(vzip2q_u8(low[t].low, upper.low)));
      vst1q_u16(target + 24, vreinterpretq_u16_u8(vzip2q_u8(low[t].high, upper.high)));
    }
  }

  // The counts of two classes side by side, modulo 256: store(i, lanes 16 · i … 16 · i + 15).
  template <int N, class Store>
  INTERPLAY_INLINE static void planes_to_byte_pairs(const Bits* class_0, const Bits* class_1, const Store& store) {
    Bytes of_0[8], of_1[8];
    planes_to_bytes<N>(class_0, of_0);
    planes_to_bytes<N>(class_1, of_1);
    for (int t = 0; t < 8; ++t) {
      store(2 * t, in_counts(vzip1q_u8(of_0[t].low, of_1[t].low), vzip1q_u8(of_0[t].high, of_1[t].high)));
      store(2 * t + 1, in_counts(vzip2q_u8(of_0[t].low, of_1[t].low), vzip2q_u8(of_0[t].high, of_1[t].high)));
    }
  }

  struct Bytes {
    uint8x16_t low, high;
  };
  static Counts in_counts(uint8x16_t low, uint8x16_t high) {
    return {vreinterpretq_u16_u8(low), vreinterpretq_u16_u8(high)};
  }
  static Bytes in_bytes(Counts a) { return {vreinterpretq_u8_u16(a.low), vreinterpretq_u8_u16(a.high)}; }
  template <int N>
  static void planes_to_bytes(const Bits* planes, Bytes* bytes) {
    uint8x16_t of_halves[2][8];
    for (int half = 0; half < 2; ++half) {
      uint8x16_t of_planes[8];
      for (int i = 0; i < 8; ++i) {
        of_planes[i] = i < N ? vreinterpretq_u8_u64(half ? planes[i].high : planes[i].low) : vdupq_n_u8(0);
      }
      half_to_bytes<N>(of_planes, of_halves[half]);
    }
    for (int t = 0; t < 8; ++t) bytes[t] = {of_halves[0][t], of_halves[1][t]};
  }

  // Two planes are merged into fields of two bits, these into fields of four, these into bytes.
  template <int N>
  static void half_to_bytes(const uint8x16_t* planes, uint8x16_t* bytes) {
    uint8x16_t pairs[2][4], fours[4][2];
    const uint8x16_t zero = vdupq_n_u8(0);
    for (int i = 0; i < 4; ++i) {
      if (2 * i >= N) {
        pairs[0][i] = pairs[1][i] = zero;
      } else {
        merge<1>(planes[2 * i], planes[2 * i + 1], 0x55, pairs[0][i], pairs[1][i]);
      }
    }
    for (int t = 0; t < 2; ++t) {
      for (int i = 0; i < 2; ++i) {
        if (4 * i >= N) {
          fours[t][i] = fours[t + 2][i] = zero;
        } else {
          merge<2>(pairs[t][2 * i], pairs[t][2 * i + 1], 0x33, fours[t][i], fours[t + 2][i]);
        }
      }
    }
    for (int t = 0; t < 4; ++t) merge<4>(fours[t][0], fours[t][1], 0x0f, bytes[t], bytes[t + 4]);
  }

  // Fields of `Width` bits of a below those of b: the even ones, and the odd ones. Shifts stay within bytes, and leave
  // the other field as the select wants it.
  template <int Width>
  static void merge(uint8x16_t a, uint8x16_t b, std::uint8_t mask, uint8x16_t& even, uint8x16_t& odd) {
    const uint8x16_t m = vdupq_n_u8(mask);
    even = vbslq_u8(m, a, vshlq_n_u8(b, Width));
    odd = vbslq_u8(m, vshrq_n_u8(a, Width), b);
  }

  static Counts load_counts(const std::uint16_t* counts) { return {vld1q_u16(counts), vld1q_u16(counts + 8)}; }
  static void store_counts(std::uint16_t* target, Counts counts) {
    vst1q_u16(target, counts.low);
    vst1q_u16(target + 8, counts.high);
  }
  static Counts set_counts(std::uint16_t count) { return {vdupq_n_u16(count), vdupq_n_u16(count)}; }
  static Counts sub_counts(Counts a, Counts b) { return {vsubq_u16(a.low, b.low), vsubq_u16(a.high, b.high)}; }
  static Counts min_counts(Counts a, Counts b) { return {vminq_u16(a.low, b.low), vminq_u16(a.high, b.high)}; }
  static Counts add_counts(Counts a, Counts b) { return {vaddq_u16(a.low, b.low), vaddq_u16(a.high, b.high)}; }
  static Counts and_counts(Counts a, Counts b) { return {vandq_u16(a.low, b.low), vandq_u16(a.high, b.high)}; }
  static Counts or_counts(Counts a, Counts b) { return {vorrq_u16(a.low, b.low), vorrq_u16(a.high, b.high)}; }
  static bool are_below_16(Counts a) { return vmaxvq_u16(vmaxq_u16(a.low, a.high)) < 16; }

  // Counts of two classes side by side: 8 lanes in two registers.
  static Counts load_pairs(const std::uint32_t* pairs) {
    return {vreinterpretq_u16_u32(vld1q_u32(pairs)), vreinterpretq_u16_u32(vld1q_u32(pairs + 4))};
  }
  static void store_pairs(std::uint32_t* target, Counts class_0, Counts class_1) {
    store_8_pairs(target, low_pairs(class_0, class_1));
    store_8_pairs(target + 8, high_pairs(class_0, class_1));
  }
  static void store_8_pairs(std::uint32_t* target, Counts pairs) {
    vst1q_u32(target, vreinterpretq_u32_u16(pairs.low));
    vst1q_u32(target + 4, vreinterpretq_u32_u16(pairs.high));
  }
  static Counts set_pairs(std::uint32_t pair) {
    const uint16x8_t both = vreinterpretq_u16_u32(vdupq_n_u32(pair));
    return {both, both};
  }
  static Floats sum_of_products(Counts pairs, Counts factors) {
    return {four_sums(pairs.low, factors.low), four_sums(pairs.high, factors.high)};
  }
  static float32x4_t four_sums(uint16x8_t pairs, uint16x8_t factors) {
    const int16x8_t a = vreinterpretq_s16_u16(pairs), b = vreinterpretq_s16_u16(factors);
    return vcvtq_f32_s32(vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b)));
  }
  static Counts low_pairs(Counts class_0, Counts class_1) { return interleaved(class_0.low, class_1.low); }
  static Counts high_pairs(Counts class_0, Counts class_1) { return interleaved(class_0.high, class_1.high); }
  static Counts interleaved(uint16x8_t class_0, uint16x8_t class_1) {
    return {vzip1q_u16(class_0, class_1), vzip2q_u16(class_0, class_1)};
  }
  // The same in bytes: 16 lanes in two registers.
  static Counts load_byte_pairs(const std::uint16_t* pairs) {  // widened: 8 lanes
    return widened(vreinterpretq_u8_u16(vld1q_u16(pairs)));
  }
  static Counts low_byte_pairs(Counts bytes) { return widened(in_bytes(bytes).low); }
  static Counts high_byte_pairs(Counts bytes) { return widened(in_bytes(bytes).high); }
  static Counts widened(uint8x16_t bytes) { return {vmovl_u8(vget_low_u8(bytes)), vmovl_high_u8(bytes)}; }
  static void store_byte_pairs(std::uint32_t* target, Counts bytes) {  // widened
    store_8_pairs(target, low_byte_pairs(bytes));
    store_8_pairs(target + 8, high_byte_pairs(bytes));
  }
  static Counts narrow_pairs(Counts low, Counts high) {  // modulo 256
    return in_counts(vuzp1q_u8(in_bytes(low).low, in_bytes(low).high),
                     vuzp1q_u8(in_bytes(high).low, in_bytes(high).high));
  }
  static Counts sub_bytes(Counts a, Counts b) {
    return in_counts(vsubq_u8(in_bytes(a).low, in_bytes(b).low), vsubq_u8(in_bytes(a).high, in_bytes(b).high));
  }
  static Counts sum_of_bytes(Counts pairs) {
    return {vpaddlq_u8(in_bytes(pairs).low), vpaddlq_u8(in_bytes(pairs).high)};
  }

  using Table = uint8x16_t;
  static Table load_table(const std::uint8_t* entries) { return vld1q_u8(entries); }
  // The entry that each byte names; something if it is above 15.
  static Counts look_up(Table table, Counts bytes) {
    return in_counts(vqtbl1q_u8(table, in_bytes(bytes).low), vqtbl1q_u8(table, in_bytes(bytes).high));
  }
  static Counts look_up(Table class_0, Table class_1, Counts pairs) {
    const uint16x8_t lower = vdupq_n_u16(0xff);
    const Counts a = look_up(class_0, pairs), b = look_up(class_1, pairs);
    return {vbslq_u16(lower, a.low, b.low), vbslq_u16(lower, a.high, b.high)};
  }

  static Floats low_floats(Counts a) { return floats(a.low); }
  static Floats high_floats(Counts a) { return floats(a.high); }
  static Floats floats(uint16x8_t a) {
    return {vcvtq_f32_u32(vmovl_u16(vget_low_u16(a))), vcvtq_f32_u32(vmovl_high_u16(a))};
  }
  static void put_in_order(Floats (&)[2]) {}

  struct Ints {  // 8 × i32
    int32x4_t low, high;
  };
  static Ints load_ints(const std::int32_t* x) { return {vld1q_s32(x), vld1q_s32(x + 4)}; }
  static void store_ints(std::int32_t* target, Ints x) {
    vst1q_s32(target, x.low);
    vst1q_s32(target + 4, x.high);
  }
  static Ints set_int(std::int32_t x) { return {vdupq_n_s32(x), vdupq_n_s32(x)}; }
  static Ints sub_ints(Ints a, Ints b) { return {vsubq_s32(a.low, b.low), vsubq_s32(a.high, b.high)}; }
  static Floats as_floats(Ints a) { return {vcvtq_f32_s32(a.low), vcvtq_f32_s32(a.high)}; }
  static Floats split_exponent(Floats x, Floats& mantissa) {
    return {four_exponents(x.low, mantissa.low), four_exponents(x.high, mantissa.high)};
  }
  static float32x4_t four_exponents(float32x4_t x, float32x4_t& mantissa) {
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    mantissa = vreinterpretq_f32_u32(vorrq_u32(vandq_u32(bits, vdupq_n_u32(0x7fffff)), vdupq_n_u32(0x3f800000)));
    return vcvtq_f32_s32(vsubq_s32(vreinterpretq_s32_u32(vshrq_n_u32(bits, 23)), vdupq_n_s32(127)));
  }

  static Floats set_float(float x) { return {vdupq_n_f32(x), vdupq_n_f32(x)}; }
  static Floats load_floats(const float* x) { return {vld1q_f32(x), vld1q_f32(x + 4)}; }
  static void store_floats(float* target, Floats x) {
    vst1q_f32(target, x.low);
    vst1q_f32(target + 4, x.high);
  }
  static Floats add(Floats a, Floats b) { return {vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)}; }
  static Floats subtract(Floats a, Floats b) { return {vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high)}; }
  static Floats multiply(Floats a, Floats b) { return {vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high)}; }
  static Floats minimum(Floats a, Floats b) { return {vminq_f32(a.low, b.low), vminq_f32(a.high, b.high)}; }
  static Floats maximum(Floats a, Floats b) { return {vmaxq_f32(a.low, b.low), vmaxq_f32(a.high, b.high)}; }
  static Floats multiply_add(Floats a, Floats b, Floats c) {
    return {vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high)};
  }
  static Floats negative_multiply_add(Floats a, Floats b, Floats c) {
    return {vfmsq_f32(c.low, a.low, b.low), vfmsq_f32(c.high, a.high, b.high)};
  }
  // The estimate is good to 2⁻⁸; a step of Newton squares that, and 1.5 · 2⁻¹² are asked for.
  static Floats reciprocal(Floats a) { return {reciprocal(a.low), reciprocal(a.high)}; }
  static float32x4_t reciprocal(float32x4_t a) {
    const float32x4_t estimate = vrecpeq_f32(a);
    return vmulq_f32(estimate, vrecpsq_f32(a, estimate));
  }
  static int at_least(Floats a, Floats b) {
    constexpr std::uint32_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
    const uint32x4_t low = vandq_u32(vcgeq_f32(a.low, b.low), vld1q_u32(bits));
    const uint32x4_t high = vandq_u32(vcgeq_f32(a.high, b.high), vld1q_u32(bits + 4));
    return static_cast<int>(vaddvq_u32(vorrq_u32(low, high)));
  }
};

// Three operations, where AND, OR and XOR take four.
struct SelectAdder {
  using Bits = NeonSimd::Bits;
  struct TwoBits {
    Bits first, second;
  };
  static TwoBits two_bits(Bits first, Bits second) { return {first, second}; }
  INTERPLAY_INLINE static TwoBits add_four(Bits& sum, TwoBits a, TwoBits b) {
    const Bits carry = add_two(sum, a);
    return {carry, add_two(sum, b)};
  }
  INTERPLAY_INLINE static Bits add_two(Bits& sum, TwoBits a) {
    const Bits differ = NeonSimd::xor_bits(sum, a.first);
    const Bits carry = NeonSimd::select_bits(differ, a.second, sum);
    sum = NeonSimd::xor_bits(differ, a.second);
    return carry;
  }
};

}  // namespace

const interplay::LaneKernels& interplay::lane_kernels_neon() {
  static constexpr LaneKernels kernels = make_lane_kernels<NeonSimd, NeonSimd, SelectAdder>(sum_neon);
  return kernels;
}
