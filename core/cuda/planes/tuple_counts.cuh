// bit planes → counts: the planes' layout on the device, and a binary matrix product over it
//
// Planes lie in fragments, the order in which a warp's threads hold the operands of a binary tensor product: sixteen
// rows and 256 samples (a step) to a fragment of 32 times four words. A thread reads its four words in one instruction,
// and a single row can still be read word by word.
#pragma once

namespace interplay {

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr int kRowsPerFragment = 16;
constexpr int kWordsPerStep = 8;
constexpr int kWordsPerFragment = kRowsPerFragment * kWordsPerStep;

// Where word `word` of a row's step 0 lies. Thread (g, t), g = row % 8 and t = word % 4, holds words t and t + 4 of
// rows g and g + 8, in the order (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4).
__device__ __forceinline__ i64 word_index(i64 row, int n_steps, int word) {
  const int in_fragment = (int)(row % kRowsPerFragment);
  return row / kRowsPerFragment * n_steps * kWordsPerFragment +
         ((in_fragment % 8 * 4 + word % 4) * 4 + word / 4 * 2 + in_fragment / 8);
}

__device__ __forceinline__ u32 sum_over_warp(u32 value) {
#pragma unroll
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(~0u, value, other);
  return value;
}

__device__ __forceinline__ i64 sum_over_warp(i64 value) {
#pragma unroll
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(~0u, value, other);
  return value;
}

// sums = start + (16 rows of a) · (8 rows of b), with AND for times and the number of ones for plus.
// Thread (g, t) holds words of rows g and g + 8 of a as they lie in a fragment, words t and t + 4 of row g of b, and
// the sums of rows g, g + 8 with columns 2t, 2t + 1.
#ifdef INTERPLAY_TENSOR_CORES
__device__ __forceinline__ void add_products(u32 (&sums)[4], uint4 a, uint2 b, const u32 (&start)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},"
      "{%10,%11,%12,%13};\n"
      : "=r"(sums[0]), "=r"(sums[1]), "=r"(sums[2]), "=r"(sums[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(start[0]), "r"(start[1]), "r"(start[2]),
        "r"(start[3]));
}
#else
// The same by counting bits, for devices whose tensor cores do not know single bits.
__device__ __forceinline__ void add_products(u32 (&sums)[4], uint4 a, uint2 b, const u32 (&start)[4]) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  u32 found[4] = {start[0], start[1], start[2], start[3]};
#pragma unroll
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int from_a = g * 4 + quarter;
    const u32 low_x = __shfl_sync(~0u, a.x, from_a), high_x = __shfl_sync(~0u, a.y, from_a);
    const u32 low_y = __shfl_sync(~0u, a.z, from_a), high_y = __shfl_sync(~0u, a.w, from_a);
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      const int from_b = (2 * t + column) * 4 + quarter;
      const u32 b_x = __shfl_sync(~0u, b.x, from_b), b_y = __shfl_sync(~0u, b.y, from_b);
      found[column] += __popc(low_x & b_x) + __popc(low_y & b_y);
      found[2 + column] += __popc(high_x & b_x) + __popc(high_y & b_y);
    }
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) sums[e] = found[e];
}
#endif

}  // namespace interplay
