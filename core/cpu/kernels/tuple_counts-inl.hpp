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

}  // namespace
