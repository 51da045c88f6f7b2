// The one counting loop, included by a file per instruction set. `Lanes` defines the register; it must live in an
// unnamed namespace there, and nothing of std:: may be used here: a function compiled for AVX-512 and merged by the
// linker with its namesake elsewhere would crash older processors.
#pragma once

#include "kernels/tuple_counts.hpp"

namespace {

template <class Lanes>
void count_cells(const interplay::CountJob& job) {
  using interplay::Count;
  using interplay::Index;
  using interplay::Word;
  Count* out = job.counts;
  for (Index m = 0; m < job.n_planes; ++m) {
    const Word* plane = job.planes[m];
    for (Index r = 0; r < job.n_prefix; ++r) {
      const Word* prefix = job.prefix + r * job.n_words;
      for (Index q = 0; q < job.n_classes; ++q) {
        Lanes sum;
        // Classes start at whole blocks, so every register is full.
        for (Index w = job.class_word_start[q]; w < job.class_word_start[q + 1]; w += Lanes::words) {
          sum.add_popcount(prefix + w, plane + w);
        }
        *out++ = static_cast<Count>(sum.total());
      }
    }
  }
}

// Weighted popcounts, of four planes at a time: they share loads, and their totals are found together. `Sums` holds the
// counts and sums of four planes with a prefix cell: add() takes a block of words, and flush() is called at least every
// `Sums::steps` blocks. Four planes and all prefix cells are in the fastest cache together.
template <class Sums>
void sum_cells_of_limbs(const interplay::SumJob& job) {
  using interplay::Index;
  using interplay::Word;
  constexpr Index at_once = 4;
  const Index n_used = (job.n_used + Sums::words - 1) / Sums::words * Sums::words;
  // A set that looks up nibbles has each row in halves, made once.
  constexpr Index halves = Sums::in_halves ? 2 : 1;
  const Word* prefixes = job.prefix;
  Word* of_planes = job.scratch + 2 * job.n_prefix * job.n_words;
  if constexpr (Sums::in_halves) {
    for (Index r = 0; r < job.n_prefix; ++r) {
      Sums::halve(job.prefix + r * job.n_words, n_used, job.scratch + 2 * r * job.n_words);
    }
    prefixes = job.scratch;
  }
  for (Index first = 0; first < job.n_planes; first += at_once) {
    const Index n = job.n_planes - first < at_once ? job.n_planes - first : at_once;
    const Word* planes[at_once];
    for (Index i = 0; i < at_once; ++i) {
      planes[i] = job.planes[first + (i < n ? i : 0)];
      if constexpr (Sums::in_halves) {
        Word* halved = of_planes + 2 * i * job.n_words;
        if (i < n) Sums::halve(planes[i], n_used, halved);
        planes[i] = i < n ? halved : of_planes;
      }
    }
    const Word* prefix = prefixes;
    for (Index r = 0; r < job.n_prefix; ++r, prefix += halves * job.n_words) {
      Sums sums;
      for (Index w = 0; w < n_used;) {
        const Index end = n_used - w < Sums::steps * Sums::words ? n_used : w + Sums::steps * Sums::words;
        for (; w < end; w += Sums::words) sums.add(prefix, planes, w, job.limbs);
        sums.flush();
      }
      alignas(16) interplay::Count totals[at_once], of_scores[at_once];
      sums.store(totals, of_scores);
      for (Index i = 0; i < n; ++i) {
        const Index at = (first + i) * job.plane_stride + r * job.prefix_stride;
        job.counts[at] = totals[i];
        job.sums[at] = of_scores[i];
      }
    }
  }
}

template <template <int> class Sums>
void sum_cells(const interplay::SumJob& job) {
  if (job.limbs[1]) {
    sum_cells_of_limbs<Sums<2>>(job);
  } else {
    sum_cells_of_limbs<Sums<1>>(job);
  }
}

}  // namespace
