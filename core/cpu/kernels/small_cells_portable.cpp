#include "kernels/portable_simd-inl.hpp"

void interplay::set_portable_small_cell_kernels(PairedKernels& kernels) {
  set_small_cell_kernels<PortableSimd>(kernels);
}
