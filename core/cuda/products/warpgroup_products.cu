// a batch → the counts of every pair of its planes with every mask, by binary matrix products of warp groups
//
// As tuple_products.cu, for devices of compute capability 9.0: four warps multiply 64 planes of rows, which they hold
// in registers with a mask applied, with 64 or 128 planes of columns in shared memory. The products of a step are in
// work while the next step's operands are made, so that no warp waits for another.
//
// Columns lie in shared memory as the instruction wants them: eight planes × 128 samples after each other, planes in
// natural order. A thread writes the four words that it reads from a fragment to where these belong.
//
// Bottleneck: the tensor cores, and shared memory, of which a product reads 2 KB in some thirty cycles.
//
// Compiled for sm_90a, once for each MASKS, MASK_GROUPS, SEGMENT_STEPS and PAIRED_COUNTS (product_block.cuh).
#include "products/product_block.cuh"

namespace interplay {

constexpr int kWarps = kThreads / 32;
// Segment s + 2 is copied while s is multiplied; the last products of s − 1 may still be in work in another warp: four.
constexpr int kStages = 4, kAhead = 2;
// Operands that a warp group multiplies with the columns: masks × its planes of rows, or its two times 64 planes of
// rows.
constexpr int kOperands = kWide ? 2 : kMasks;
constexpr int kColumns = kBlockFragments * kRowsPerFragment;
constexpr int kSums = kColumns / 2;  // of a thread, for each operand
constexpr int kSideWords = kBlockFragments * kWordsPerFragment;
constexpr int kMaskWords = kMasks == 1 ? 0 : kBlockMasks * kWordsPerStep;
constexpr int kStepWords = 2 * kSideWords + kMaskWords;
constexpr int kStageWords = kSegmentSteps * kStepWords;

// sums += (64 rows, 16 of them of each warp, as they lie in a fragment) · (the columns that are described)
#define INTERPLAY_EIGHT(d, i)                                                                                 \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), \
      "+r"(d[i + 7])
__device__ __forceinline__ void add_group_products(u32 (&d)[32], uint4 a, u64 columns) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\nwgmma.mma_async.sync.aligned.m64n64k256.s32.b1.b1.and.popc "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
      "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, p;\n}\n"
      : INTERPLAY_EIGHT(d, 0), INTERPLAY_EIGHT(d, 8), INTERPLAY_EIGHT(d, 16), INTERPLAY_EIGHT(d, 24)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(columns));
}
__device__ __forceinline__ void add_group_products(u32 (&d)[64], uint4 a, u64 columns) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.eq.u32 p, 0, 0;\nwgmma.mma_async.sync.aligned.m64n128k256.s32.b1.b1.and.popc "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
      "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, "
      "%59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, p;\n}\n"
      : INTERPLAY_EIGHT(d, 0), INTERPLAY_EIGHT(d, 8), INTERPLAY_EIGHT(d, 16), INTERPLAY_EIGHT(d, 24),
        INTERPLAY_EIGHT(d, 32), INTERPLAY_EIGHT(d, 40), INTERPLAY_EIGHT(d, 48), INTERPLAY_EIGHT(d, 56)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "l"(columns));
}
#undef INTERPLAY_EIGHT

// Before products: writes to registers are done. After products: they are one group; wait until all but the last groups
// have ended.
__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kStillOpen>
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kStillOpen) : "memory");
}

// Tells the compiler that products have changed a register.
__device__ __forceinline__ void changed(u32& value) { asm volatile("" : "+r"(value)::"memory"); }

// Columns of a step in shared memory: 128 bytes from a plane's first half step to its second, 256 from eight planes to
// the next.
__device__ __forceinline__ u64 description(const u32* columns) {
  const u32 address = (u32)__cvta_generic_to_shared(columns);
  return (u64)((address & 0x3FFFF) >> 4) | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
}

__device__ __forceinline__ void count_block(const Products& products, const BlockOfPlanes& block, u32* memory) {
  const int n_classes = products.n_classes;
  const int* class_steps = products.class_steps;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane >> 2, t = lane & 3, group = warp / 4;
  // Where each thread copies from: rows and masks.
  constexpr int kCopiesOfFragment = kWordsPerFragment / 4, kCopiesOfMask = kWordsPerStep / 4;
  constexpr int kFragmentCopies = kBlockFragments * kCopiesOfFragment, kCopies = kFragmentCopies + kMaskWords / 4;
  constexpr int kPerThread = (kCopies + kThreads - 1) / kThreads;
  const u32* from[kPerThread];
  int step_words[kPerThread];
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int copy = threadIdx.x + i * kThreads;
    if (copy < kFragmentCopies) {
      from[i] = products.row_words(block, copy / kCopiesOfFragment) + copy % kCopiesOfFragment * 4;
      step_words[i] = kWordsPerFragment;
    } else {
      from[i] = products.mask_words(block, (copy - kFragmentCopies) / kCopiesOfMask) +
                (copy - kFragmentCopies) % kCopiesOfMask * 4;
      step_words[i] = kWordsPerStep;
    }
  }
  // And columns: a warp takes every kWarps-th fragment of a segment.
  constexpr int kColumnLoads = kSegmentSteps * kBlockFragments / kWarps;
  constexpr int kSources = kBlockFragments > kWarps ? kBlockFragments / kWarps : 1;
  const u32* column_from[kSources];
#pragma unroll
  for (int i = 0; i < kSources; ++i) {
    column_from[i] = products.column_words(block, (warp + i * kWarps) % kBlockFragments) + lane * 4;
  }
  // Segments of a class: the last of them may have steps of zeros, so that no loop has to ask. Likewise segments beyond
  // the last: nothing here is a branch, for which products in work would have to end.
  int copied_class = 0, copied_step = 0, copied_end = class_steps[1], n_copied = 0;
  uint4 loaded[kColumnLoads];
  const auto begin_segment = [&] {
    u32* to = memory + n_copied % kStages * kStageWords;
#pragma unroll
    for (int s = 0; s < kSegmentSteps; ++s) {
      const int step = copied_step + s;
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
        const int copy = threadIdx.x + i * kThreads;
        u32* place = to + s * kStepWords + (copy < kFragmentCopies ? 0 : kSideWords) + copy * 4;
        copy_16_bytes(place, from[i] + (i64)min(step, copied_end - 1) * step_words[i], step < copied_end,
                      copy < kCopies);
      }
    }
    // Beyond the end rows are zeros, so any columns do.
#pragma unroll
    for (int i = 0; i < kColumnLoads; ++i) {
      const int step = min(copied_step + (warp + i * kWarps) / kBlockFragments, copied_end - 1);
      loaded[i] = __ldg(reinterpret_cast<const uint4*>(column_from[i % kSources] + (i64)step * kWordsPerFragment));
    }
    end_copies();
  };
  const auto end_segment = [&] {
    u32* to = memory + n_copied % kStages * kStageWords + kSideWords + lane;
#pragma unroll
    for (int i = 0; i < kColumnLoads; ++i) {
      const int fragment = (warp + i * kWarps) % kBlockFragments, step = (warp + i * kWarps) / kBlockFragments;
      u32* place = to + step * kStepWords + fragment * kWordsPerFragment;
      place[0] = loaded[i].x;
      place[32] = loaded[i].z;
      place[64] = loaded[i].y;
      place[96] = loaded[i].w;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // for the threads that multiply
    ++n_copied;
    copied_step = min(copied_step + kSegmentSteps, copied_end);
    copied_class = min(copied_class + (copied_step == copied_end), n_classes - 1);
    copied_end = class_steps[copied_class + 1];
  };

  u32 sums[kOperands][kSums];
  const auto for_sums = [&](auto change) {
#pragma unroll
    for (int o = 0; o < kOperands; ++o)
#pragma unroll
      for (int e = 0; e < kSums; ++e) change(sums[o][e]);
  };
  const i64 row_stride = block.row_stride();
  const auto write = [&](int q) {
#pragma unroll
    for (int o = 0; o < kOperands; ++o) {
      u32* target = block.target(products.counts, kMasks == 1 ? 0 : group * kMasks + o, q, kNumbers ? 2 : n_classes);
      if (target == nullptr) continue;
      const int fragment = block.row_block + (kMasks == 1 ? o * 4 : 0) + warp % 4;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        u32* of_row = target + (fragment * kRowsPerFragment + half * 8 + g) * row_stride +
                      block.column_block * kRowsPerFragment + 2 * t;
#pragma unroll
        for (int j = 0; j < kColumns / 8; ++j) {
          *reinterpret_cast<uint2*>(of_row + j * 8) =
              make_uint2(sums[o][j * 4 + half * 2], sums[o][j * 4 + half * 2 + 1]);
        }
      }
    }
  };

  const Groups groups = {class_steps, n_classes};
  u32 of_scores[kNumbers ? kOperands : 1][kSums];
  const auto for_scores = [&](auto change) {
#pragma unroll
    for (int o = 0; o < (kNumbers ? kOperands : 0); ++o)
#pragma unroll
      for (int e = 0; e < kSums; ++e) change(of_scores[o][e], sums[o][e]);
  };
  for_scores([](u32& score, u32&) { score = 0; });

  for (int i = 0; i < kAhead; ++i) {
    begin_segment();
    end_segment();
  }
  int segment = 0;
#pragma unroll 1
  for (int q = 0; q < n_classes; ++q) {
    if (kNumbers ? groups.begins_order(q) : !kPaired || q == 0) for_sums([](u32& sum) { sum = 0; });
    const int n_segments = (class_steps[q + 1] - class_steps[q] + kSegmentSteps - 1) / kSegmentSteps;
#pragma unroll 1
    for (int of_class = 0; of_class < n_segments; ++of_class, ++segment) {
      wait_for_copies<kAhead - 1>();
      __syncthreads();
      const u32* at = memory + segment % kStages * kStageWords;
      uint4 operands[2][kOperands];
#pragma unroll
      for (int s = 0; s < kSegmentSteps; ++s) {
        const u32* step = at + s * kStepWords;
        const uint4* rows = reinterpret_cast<const uint4*>(step) + lane;
#pragma unroll
        for (int o = 0; o < kOperands; ++o) {
          uint4 words = rows[(warp % 4 + (kMasks == 1 ? o * 4 : 0)) * 32];
          if (kMasks > 1) {
            const uint2 mask = reinterpret_cast<const uint2*>(step + 2 * kSideWords)[(group * kMasks + o) * 4 + t];
            words = make_uint4(words.x & mask.x, words.y & mask.x, words.z & mask.y, words.w & mask.y);
          }
          operands[s % 2][o] = words;
        }
        const u64 columns = description(step + kSideWords);
        for_sums(changed);
        begin_products();
#pragma unroll
        for (int o = 0; o < kOperands; ++o) add_group_products(sums[o], operands[s % 2][o], columns);
        end_products();
        wait_for_products<1>();  // those of the step before: its operands are made anew
        if (s == 0) begin_segment();
        if (s == kSegmentSteps - 1) end_segment();
      }
    }
    wait_for_products<0>();
    for_sums(changed);
    if (kNumbers) {
      const u32 weight = groups.weight(q);
      if (weight != 0) for_scores([&](u32& score, u32& count) { score += weight * count; });
    } else if (kPaired && q == 0) {
      for_sums([](u32& sum) { sum <<= 16; });
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
  wait_for_copies<0>();
}

}  // namespace interplay
