// a block of threads of a batch: which planes and masks it counts, whether any tuple needs them; asynchronous copies
//
// A block takes 64 × 64 planes (128 × 128 where there is one mask) and some masks.
//   MASKS               of a warp: 4, or 1 where there is no prefix
//   MASK_GROUPS         of a block of threads, MASKS each: a group has four warps
//   BOTH_IN_A_WORD      1 if there are two classes of less than 2^16 samples: that of class 0 is in the upper half
#pragma once

#include "product_batch.cuh"

namespace interplay {

constexpr int kMasks = MASKS, kMaskGroups = MASK_GROUPS, kThreads = 128 * kMaskGroups;
constexpr int kBlockMasks = kMasks * kMaskGroups;
constexpr int kBlockFragments = kMasks == 1 ? 8 : 4;  // of rows, and of columns
constexpr bool kBothInAWord = BOTH_IN_A_WORD;

// What a block of threads counts, in fragments of the batch's planes.
struct BlockOfPlanes {
  int n_masks, row_fragments, column_fragments;  // of the batch
  int first_mask, row_block, column_block;       // of the block

  __device__ __forceinline__ BlockOfPlanes(const Batch& batch, const LaneBlocks& lanes) {
    n_masks = batch.n_masks(lanes);
    row_fragments = batch.row_planes(lanes) / kRowsPerFragment;
    column_fragments = batch.column_planes(lanes) / kRowsPerFragment;
    first_mask = blockIdx.x * kBlockMasks;
    row_block = blockIdx.y * kBlockFragments;
    column_block = blockIdx.z * kBlockFragments;
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

  // Where a fragment of the block begins; beyond the last there is nothing to count, and the last serves.
  __device__ __forceinline__ const u32* row_words(const u32* planes, int n_steps, const Batch& batch,
                                                  const LaneBlocks& lanes, int fragment) const {
    const i64 row = batch.row_fragment(lanes, min(row_block + fragment, row_fragments - 1));
    return planes + row / kRowsPerFragment * n_steps * kWordsPerFragment;
  }
  __device__ __forceinline__ const u32* column_words(const u32* planes, int n_steps, const Batch& batch,
                                                     const LaneBlocks& lanes, int fragment) const {
    const i64 row = batch.column_fragment(lanes, min(column_block + fragment, column_fragments - 1));
    return planes + row / kRowsPerFragment * n_steps * kWordsPerFragment;
  }
  __device__ __forceinline__ const u32* mask_words(const u32* masks, int n_steps, int mask) const {
    return masks + (i64)min(first_mask + mask, n_masks - 1) * n_steps * kWordsPerStep;
  }

  // Where the products of a mask and class begin: [mask][class, unless both are in a word][row planes][column planes],
  // planes in whole blocks; null where there is no such mask.
  __device__ __forceinline__ u32* target(u32* products, int mask, int q, int n_classes) const {
    if (first_mask + mask >= n_masks) return nullptr;
    const i64 class_stride = (i64)gridDim.y * kBlockFragments * kRowsPerFragment * row_stride();
    return products +
           (kBothInAWord ? (i64)(first_mask + mask) : (i64)(first_mask + mask) * n_classes + q) * class_stride;
  }
  __device__ __forceinline__ i64 row_stride() const { return (i64)gridDim.z * kBlockFragments * kRowsPerFragment; }
};

// exists: whether to copy, or to write zeros
__device__ __forceinline__ void copy_16_bytes(u32* to, const u32* from, bool exists) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from),
               "r"(exists ? 16 : 0));
#else
  *reinterpret_cast<uint4*>(to) = exists ? *reinterpret_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
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

}  // namespace interplay
