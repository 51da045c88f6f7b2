// bit planes → counts: the planes' layout on the device, and a binary matrix product over it
//
// Planes lie in fragments, the order in which a warp's threads hold the operands of a binary tensor product: eight rows
// and 256 samples to a fragment of 32 pairs of words. A warp reads a fragment in one instruction, and a single row can
// still be read word by word.
#pragma once

namespace interplay {

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

constexpr int kRowsPerFragment = 8;

// Where a thread that plays the role of (row, quarter) finds its two words of step `step`.
__device__ __forceinline__ i64 fragment_index(i64 row, int n_steps, int step, int quarter) {
  return ((row / kRowsPerFragment) * n_steps + step) * 32 + (row % kRowsPerFragment) * 4 + quarter;
}

__device__ __forceinline__ uint2 operator&(uint2 a, uint2 b) { return make_uint2(a.x & b.x, a.y & b.y); }

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

// sums += (16 rows of a) · (8 rows of b), with AND for times and the number of ones for plus.
// Thread (g, t) of the warp, g = lane / 4 and t = lane % 4, holds rows g and g + 8 of a (low, high), row g of b, and the
// sums of rows g, g + 8 with columns 2t, 2t + 1.
#ifdef INTERPLAY_TENSOR_CORES
__device__ __forceinline__ void add_products(u32 (&sums)[4], uint2 a_low, uint2 a_high, uint2 b) {
  asm volatile(
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};\n"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a_low.x), "r"(a_high.x), "r"(a_low.y), "r"(a_high.y), "r"(b.x), "r"(b.y));
}
#else
// The same by counting bits, for devices whose tensor cores do not know single bits.
__device__ __forceinline__ void add_products(u32 (&sums)[4], uint2 a_low, uint2 a_high, uint2 b) {
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
#pragma unroll
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int from_a = g * 4 + quarter;
    const uint2 low = make_uint2(__shfl_sync(~0u, a_low.x, from_a), __shfl_sync(~0u, a_low.y, from_a));
    const uint2 high = make_uint2(__shfl_sync(~0u, a_high.x, from_a), __shfl_sync(~0u, a_high.y, from_a));
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      const int from_b = (2 * t + column) * 4 + quarter;
      const uint2 other = make_uint2(__shfl_sync(~0u, b.x, from_b), __shfl_sync(~0u, b.y, from_b));
      sums[column] += __popc(low.x & other.x) + __popc(low.y & other.y);
      sums[2 + column] += __popc(high.x & other.x) + __popc(high.y & other.y);
    }
  }
}
#endif

}  // namespace interplay
