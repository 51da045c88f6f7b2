// a batch → the counts of every pair of its planes with every mask, by binary matrix products
//
// A block of threads takes 64 × 64 planes (128 × 128 where there is one mask) and some masks. Segments of samples come
// through shared memory by asynchronous copies, as fragments; a mask is applied in registers, so that the words that a
// warp loads serve all its masks. Counts stay in registers, 32 bits wide, until their class ends.
//
// Bottleneck: the tensor cores where samples are many; then the writes, a word per count.
//
// Compiled once for each MASKS, MASK_GROUPS, SEGMENT_STEPS and PAIRED_COUNTS (product_block.cuh).
#include "products/product_block.cuh"

namespace interplay {

// Of a warp; warps of a group stand two by two.
constexpr int kFragments = kBlockFragments / 2;
constexpr int kStages = 3;
// Without tensor cores a product is many instructions: unrolled, they would take minutes to compile.
#ifdef INTERPLAY_TENSOR_CORES
constexpr int kStepsUnrolled = kSegmentSteps;
#else
constexpr int kStepsUnrolled = 1;
#endif
constexpr int kStepWords = 2 * kBlockFragments * kWordsPerFragment + kBlockMasks * kWordsPerStep;
constexpr int kStageWords = kSegmentSteps * kStepWords;

__device__ __forceinline__ void count_block(const Products& products, const BlockOfPlanes& block, u32* memory) {
  const int n_classes = products.n_classes;
  const int* class_steps = products.class_steps;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane >> 2, t = lane & 3;
  const int group = warp / 4, wm = warp % 4 / 2, wn = warp % 2;
  // Where each thread copies from: fragments of rows, of columns, then masks.
  constexpr int kCopiesOfFragment = kWordsPerFragment / 4, kCopiesOfMask = kWordsPerStep / 4;
  constexpr int kFragmentCopies = 2 * kBlockFragments * kCopiesOfFragment;
  constexpr int kCopies = kFragmentCopies + kBlockMasks * kCopiesOfMask;
  constexpr int kPerThread = (kCopies + kThreads - 1) / kThreads;
  const u32* from[kPerThread];
  int step_words[kPerThread];
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int copy = threadIdx.x + i * kThreads;
    if (copy < kFragmentCopies) {
      const int fragment = copy / kCopiesOfFragment;
      from[i] = (fragment < kBlockFragments ? products.row_words(block, fragment)
                                            : products.column_words(block, fragment - kBlockFragments)) +
                copy % kCopiesOfFragment * 4;
      step_words[i] = kWordsPerFragment;
    } else {
      from[i] = products.mask_words(block, (copy - kFragmentCopies) / kCopiesOfMask) +
                (copy - kFragmentCopies) % kCopiesOfMask * 4;
      step_words[i] = kWordsPerStep;
    }
  }
  // Segments of a class: the last of them may have steps of zeros, so that no loop has to ask.
  int copied_class = 0, copied_step = 0, n_copied = 0;
  const auto copy_segment = [&] {
    if (copied_class < n_classes) {
      const int end = class_steps[copied_class + 1];
      u32* to = memory + n_copied % kStages * kStageWords;
#pragma unroll
      for (int s = 0; s < kSegmentSteps; ++s) {
        const int step = copied_step + s;
#pragma unroll
        for (int i = 0; i < kPerThread; ++i) {
          const int copy = threadIdx.x + i * kThreads;
          copy_16_bytes(to + copy * 4, from[i] + (i64)min(step, end - 1) * step_words[i], step < end, copy < kCopies);
        }
        to += kStepWords;
      }
      ++n_copied;
      copied_step += kSegmentSteps;
      if (copied_step >= end) copied_step = end, ++copied_class;
    }
    end_copies();
  };

  u32 sums[kMasks][kFragments][2 * kFragments][4];
  const auto clear = [&] {
#pragma unroll
    for (int m = 0; m < kMasks; ++m)
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
#pragma unroll
        for (int j = 0; j < 2 * kFragments; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) sums[m][i][j][e] = 0;
  };
  const auto shift = [&] {
#pragma unroll
    for (int m = 0; m < kMasks; ++m)
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
#pragma unroll
        for (int j = 0; j < 2 * kFragments; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) sums[m][i][j][e] <<= 16;
  };
  const i64 row_stride = block.row_stride();
  const auto write = [&](int q) {
#pragma unroll
    for (int m = 0; m < kMasks; ++m) {
      u32* target = block.target(products.counts, group * kMasks + m, q, kNumbers ? 2 : n_classes);
      if (target == nullptr) continue;
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int row = (block.row_block + wm * kFragments + i) * kRowsPerFragment + half * 8 + g;
#pragma unroll
          for (int j = 0; j < 2 * kFragments; ++j) {
            const int column = (block.column_block + wn * kFragments) * kRowsPerFragment + j * 8 + 2 * t;
            *reinterpret_cast<uint2*>(target + row * row_stride + column) =
                make_uint2(sums[m][i][j][half * 2], sums[m][i][j][half * 2 + 1]);
          }
        }
    }
  };

  const Groups groups = {class_steps, n_classes};
  u32 of_scores[kNumbers ? kMasks : 1][kFragments][2 * kFragments][4];
  const auto for_scores = [&](auto change) {
#pragma unroll
    for (int m = 0; m < (kNumbers ? kMasks : 0); ++m)
#pragma unroll
      for (int i = 0; i < kFragments; ++i)
#pragma unroll
        for (int j = 0; j < 2 * kFragments; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) change(of_scores[m][i][j][e], sums[m][i][j][e]);
  };
  for_scores([](u32& score, u32&) { score = 0; });

  for (int stage = 0; stage < kStages - 1; ++stage) copy_segment();
  int segment = 0;
#pragma unroll 1
  for (int q = 0; q < n_classes; ++q) {
    if (kNumbers ? groups.begins_order(q) : !kPaired || q == 0) clear();
    const int n_segments = (class_steps[q + 1] - class_steps[q] + kSegmentSteps - 1) / kSegmentSteps;
#pragma unroll 1
    for (int of_class = 0; of_class < n_segments; ++of_class, ++segment) {
      wait_for_copies<kStages - 2>();
      __syncthreads();
      copy_segment();
      const u32* at = memory + segment % kStages * kStageWords;
#pragma unroll kStepsUnrolled
      for (int s = 0; s < kSegmentSteps; ++s, at += kStepWords) {
        const uint4* fragments = reinterpret_cast<const uint4*>(at) + lane;
        uint4 left[kFragments], right[kFragments];
#pragma unroll
        for (int i = 0; i < kFragments; ++i) {
          left[i] = fragments[(wm * kFragments + i) * 32];
          right[i] = fragments[(kBlockFragments + wn * kFragments + i) * 32];
        }
        const uint2* of_masks =
            reinterpret_cast<const uint2*>(at + 2 * kBlockFragments * kWordsPerFragment) + group * kMasks * 4 + t;
#pragma unroll
        for (int m = 0; m < kMasks; ++m) {
          const uint2 mask = of_masks[m * 4];
          // To the columns: the rows' four words are where the tensor cores want them, those of a column are not. One
          // mask of all ones serves too: else they would be moved for each product.
#pragma unroll
          for (int j = 0; j < 2 * kFragments; ++j) {
            const uint4 words = right[j / 2];
            const uint2 masked =
                j % 2 ? make_uint2(words.y & mask.x, words.w & mask.y) : make_uint2(words.x & mask.x, words.z & mask.y);
#pragma unroll
            for (int i = 0; i < kFragments; ++i) add_products(sums[m][i][j], left[i], masked, sums[m][i][j]);
          }
        }
      }
    }
    if (kNumbers) {
      const u32 weight = groups.weight(q);
      if (weight != 0) for_scores([&](u32& score, u32& count) { score += weight * count; });
    } else if (kPaired && q == 0) {
      shift();
    } else {
      write(q);
    }
  }
  if (kNumbers) {
    if (!kPaired) write(0);
    for_scores([&](u32& score, u32& count) {
      score += groups.offset() * count;
      count = kPaired ? (score << kCountBits) + count : score;
    });
    write(1);
  }
}

}  // namespace interplay
