// a batch → blocks of planes and masks of which some tuple needs the counts; asynchronous copies
//
// A block is 64 × 64 planes (128 × 128 where there is one mask, and classes) and some masks. Blocks that have tuples
// are listed first: they are less than half of all, and a block of threads without work keeps others waiting.
//   MASKS               of a warp: 4, 2 of a number outcome, or 1 where there is no prefix
//   MASK_GROUPS         of a block of threads, MASKS each: a group has four warps
//   SEGMENT_STEPS       steps that are copied at a time
//   PAIRED_COUNTS       1 if there are two classes of less than 2^16 samples: class 0 is in the upper half
//   NUMBERS             of a number outcome: groups of samples take the place of classes (digit_orders.py)
#pragma once

#include "products/product_batch.cuh"

namespace interplay {

constexpr int kMasks = MASKS, kMaskGroups = MASK_GROUPS, kThreads = 128 * kMaskGroups;
constexpr int kBlockMasks = kMasks * kMaskGroups, kSegmentSteps = SEGMENT_STEPS;
constexpr bool kWide = kMasks == 1 && !kNumbers;
constexpr int kBlockFragments = kWide ? 8 : 4;  // of rows, and of columns
// Blocks of threads on a multiprocessor.
constexpr int kBlocksAtOnce = kMaskGroups > 1 ? 1 : kNumbers ? 3 : 2;
constexpr bool kPaired = PAIRED_COUNTS;

// The planes and masks that a block of threads counts at a time, in fragments of the batch's planes.
struct BlockOfPlanes {
  int row_blocks, column_blocks, n_masks, row_fragments, column_fragments;  // of the batch
  int first_mask, row_block, column_block;                                  // of the block

  // number: masks run fastest, then rows
  __device__ __forceinline__ BlockOfPlanes(const Batch& batch, const LaneBlocks& lanes, int row_blocks,
                                           int column_blocks, u32 number)
      : row_blocks(row_blocks), column_blocks(column_blocks) {
    n_masks = batch.n_masks(lanes);
    row_fragments = batch.row_planes(lanes) / kRowsPerFragment;
    column_fragments = batch.column_planes(lanes) / kRowsPerFragment;
    const u32 mask_blocks = (n_masks + kBlockMasks - 1) / kBlockMasks, pair = number / mask_blocks;
    first_mask = number % mask_blocks * kBlockMasks;
    row_block = pair % row_blocks * kBlockFragments;
    column_block = pair / row_blocks * kBlockFragments;
  }

  // Whether any tuple ascends.
  __device__ __forceinline__ bool has_tuples(const Batch& batch, const LaneBlocks& lanes) const {
    int last_column = -1, last_row = -1, first_row = 1 << 30;
    for (int f = 0; f < kBlockFragments; ++f) {
      if (row_block + f < row_fragments) {
        const int position = batch.row_position(lanes, row_block + f);
        first_row = min(first_row, position);
        last_row = max(last_row, position + kRowsPerFragment - 1);
      }
      if (column_block + f < column_fragments) {
        last_column = max(last_column, batch.column_position(lanes, column_block + f) + kRowsPerFragment - 1);
      }
    }
    bool any = false;
    for (int m = first_mask; m < min(first_mask + kBlockMasks, n_masks) && !any; ++m) {
      any = batch.last_position(lanes, m) < last_row;
    }
    return any && first_row < last_column;
  }

  // Where the products of a mask and class begin: [mask][class, unless both are in a word][row planes][column planes],
  // planes in whole blocks; null where there is no such mask.
  __device__ __forceinline__ u32* target(u32* products, int mask, int q, int n_classes) const {
    if (first_mask + mask >= n_masks) return nullptr;
    const i64 class_stride = (i64)row_blocks * kBlockFragments * kRowsPerFragment * row_stride();
    return products + (kPaired ? (i64)(first_mask + mask) : (i64)(first_mask + mask) * n_classes + q) * class_stride;
  }
  __device__ __forceinline__ i64 row_stride() const { return (i64)column_blocks * kBlockFragments * kRowsPerFragment; }
};

// exists: whether to copy, or to write zeros; wanted: whether to do anything
__device__ __forceinline__ void copy_16_bytes(u32* to, const u32* from, bool exists, bool wanted) {
#if __CUDA_ARCH__ >= 800
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\n@p cp.async.cg.shared.global [%0], [%1], 16, %2;\n}\n" ::"r"(
                   (u32)__cvta_generic_to_shared(to)),
               "l"(from), "r"(exists ? 16 : 0), "r"((int)wanted));
#else
  if (wanted) *reinterpret_cast<uint4*>(to) = exists ? *reinterpret_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
#endif
}
__device__ __forceinline__ void end_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}
template <int kStillOpen>
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kStillOpen));
#endif
}

// Of a number outcome, what follows a group of samples: counts were kept since the first group of its order, and add up
// to sums with weights. After the last group they are the samples of all scores.
struct Groups {
  const int* ends;  // as DigitOrders.for_products has them, 0 first
  int n;

  __device__ __forceinline__ u32 weight(int group) const { return (u32)ends[1 + n + group]; }
  __device__ __forceinline__ bool begins_order(int group) const { return ends[1 + 2 * n + group] != 0; }
  __device__ __forceinline__ u32 offset() const { return (u32)ends[1 + 3 * n]; }
};

// The operands of all products, and the target of the counts.
struct Products {
  const u32* planes;
  int n_steps;
  const int* class_steps;
  int n_classes;  // of a number outcome, groups; class_steps are as Groups has them
  const Batch& batch;
  const LaneBlocks& lanes;
  const u32* masks;
  u32* counts;

  // Where a fragment of a block begins; beyond the last there is nothing to count, and the last serves.
  __device__ __forceinline__ const u32* row_words(const BlockOfPlanes& block, int fragment) const {
    return words(batch.row_fragment(lanes, min(block.row_block + fragment, block.row_fragments - 1)));
  }
  __device__ __forceinline__ const u32* column_words(const BlockOfPlanes& block, int fragment) const {
    return words(batch.column_fragment(lanes, min(block.column_block + fragment, block.column_fragments - 1)));
  }
  __device__ __forceinline__ const u32* words(i64 row) const {
    return planes + row / kRowsPerFragment * n_steps * kWordsPerFragment;
  }
  __device__ __forceinline__ const u32* mask_words(const BlockOfPlanes& block, int mask) const {
    return masks + (i64)min(block.first_mask + mask, block.n_masks - 1) * n_steps * kWordsPerStep;
  }
};

// Counts a block, by all threads. memory: shared
__device__ __forceinline__ void count_block(const Products& products, const BlockOfPlanes& block, u32* memory);

}  // namespace interplay

using namespace interplay;

// blocks: at first a zero; then how many have tuples, and their numbers. A thread to each of all blocks
extern "C" __global__ void list_blocks(const int* lane_first, const int* lane_levels, const int* lane_rows,
                                       const i64* lane_row, const Batch* batches, int number, int row_blocks,
                                       int column_blocks, u32 n_blocks, u32* blocks) {
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n_blocks) return;
  const BlockOfPlanes block(batches[number], lanes, row_blocks, column_blocks, i);
  if (block.has_tuples(batches[number], lanes)) blocks[1 + atomicAdd(blocks, 1u)] = i;
}

// products: [mask][class, unless both are in a word][row planes, rounded up to a block][column planes, likewise].
// Counts that no tuple needs are not set. blocks: as list_blocks leaves them
extern "C" __global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    count_products(const u32* planes, int n_steps, const int* class_steps, int n_classes, const int* lane_first,
                   const int* lane_levels, const int* lane_rows, const i64* lane_row, const Batch* batches, int number,
                   const u32* masks, int row_blocks, int column_blocks, const u32* blocks, u32* products) {
  extern __shared__ __align__(128) u32 memory[];
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch& batch = batches[number];
  const Products all = {planes, n_steps, class_steps, n_classes, batch, lanes, masks, products};
  const u32 n_blocks = blocks[0];
#pragma unroll 1
  for (u32 i = blockIdx.x; i < n_blocks; i += gridDim.x) {
    count_block(all, BlockOfPlanes(batch, lanes, row_blocks, column_blocks, blocks[1 + i]), memory);
    __syncthreads();  // all threads have read the copies before the next block's copies begin
  }
}
