// bit planes → counts per cell and class
//
// Bottleneck: AND and popcount over words that lie in the first- and second-level cache.
// Overflow: a count is at most the number of samples; 32 bits hold 4e9.
#pragma once

#include "interplay/simd_level.hpp"
#include "interplay/types.hpp"

namespace interplay {

// Every prefix cell met with every plane, class by class.
struct CountJob {
  const Word* prefix;             // IN  n_prefix * n_words
  Index n_prefix;                 //     cells of the fixed variables
  const Word* const* planes;      // IN  n_planes pointers to n_words each
  Index n_planes;                 //
  const Index* class_word_start;  // IN  n_classes + 1, multiples of kWordsPerBlock
  Index n_classes;                //
  Index n_words;                  //
  Count* counts;                  // OUT n_planes * n_prefix * n_classes
};

using CountKernel = void (*)(const CountJob&);

// Every prefix cell met with every plane: samples, and the sum of their scores. The samples of a byte share a score, of
// 8 bits, or of 16 bits as 256 · limb 1 + limb 0.
struct SumJob {
  const Word* prefix;           // IN  n_prefix * n_words
  Index n_prefix;               //
  const Word* const* planes;    // IN  n_planes pointers to n_words each
  Index n_planes;               //
  const std::int8_t* limbs[2];  // IN  8 * n_words scores each, 64-byte aligned; the second is null where one is enough
  Index n_words;                //     a multiple of kWordsPerBlock
  Index n_used;                 //     words with samples, the first ones
  Count *counts, *sums;         // OUT of plane m and prefix cell r at m * plane_stride + r * prefix_stride
  Index plane_stride, prefix_stride;
  Word* scratch;  // room for sum_scratch_words(), 64-byte aligned
};

// The prefix cells and four planes, each twice as long: kernels may keep them in halves.
inline Index sum_scratch_words(Index n_prefix, Index n_words) { return 2 * (n_prefix + 4) * n_words; }

using SumKernel = void (*)(const SumJob&);

SumKernel sum_kernel(SimdLevel level);

void sum_serial(const SumJob& job);
void sum_avx2(const SumJob& job);
void sum_avx512(const SumJob& job);
void sum_neon(const SumJob& job);

CountKernel count_kernel(SimdLevel level);

void count_serial(const CountJob& job);
void count_avx2(const CountJob& job);
void count_avx512(const CountJob& job);
void count_neon(const CountJob& job);

}  // namespace interplay
