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

// Weighted popcounts. `Sums` holds the counts and sums of one plane with a prefix cell: add() takes a block of words,
// and flush() is called at least every `Sums::steps` blocks. Planes are taken four at a time: they share loads.
template <class Sums, int Limbs>
void sum_cells_of_limbs(const interplay::SumJob& job) {
  using interplay::Index;
  using interplay::Word;
  constexpr Index at_once = 4;
  // Four planes and all prefix cells are in the fastest cache together.
  for (Index first = 0; first < job.n_planes; first += at_once) {
    const Index n = job.n_planes - first < at_once ? job.n_planes - first : at_once;
    const Word* planes[at_once];
    for (Index i = 0; i < at_once; ++i) planes[i] = job.planes[first + (i < n ? i : 0)];
    const Word* prefix = job.prefix;
    for (Index r = 0; r < job.n_prefix; ++r, prefix += job.n_words) {
      Sums sums[at_once];
      for (Index w = 0; w < job.n_words;) {
        const Index end = job.n_words - w < Sums::steps * Sums::words ? job.n_words : w + Sums::steps * Sums::words;
        for (; w < end; w += Sums::words) {
          const typename Sums::Bits of_prefix = Sums::load(prefix + w);
          for (Index i = 0; i < at_once; ++i) {
            const auto counts = Sums::counts_of(of_prefix, Sums::load(planes[i] + w));
            for (int limb = 0; limb < Limbs; ++limb) sums[i].add_scores(limb, counts, job.limbs[limb] + 8 * w);
            sums[i].add_counts(counts);
          }
        }
        for (Index i = 0; i < at_once; ++i) sums[i].flush();
      }
      for (Index i = 0; i < n; ++i) {
        const Index at = (first + i) * job.plane_stride + r * job.prefix_stride;
        job.counts[at] = static_cast<interplay::Count>(sums[i].total());
        interplay::Count sum = static_cast<interplay::Count>(sums[i].sum(0));
        if (Limbs > 1) sum += static_cast<interplay::Count>(sums[i].sum(1)) << 8;
        job.sums[at] = sum;
      }
    }
  }
}

template <template <int> class Sums>
void sum_cells(const interplay::SumJob& job) {
  if (job.limbs[1]) {
    sum_cells_of_limbs<Sums<2>, 2>(job);
  } else {
    sum_cells_of_limbs<Sums<1>, 1>(job);
  }
}

}  // namespace
