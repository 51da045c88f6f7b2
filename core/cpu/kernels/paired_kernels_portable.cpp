#include "kernels/portable_simd-inl.hpp"

void interplay::set_portable_paired_kernels(PairedKernels& kernels) {
  set_all_paired_kernels<PortableSimd, PortableSimd, CarrySaveAdder<PortableSimd>>(kernels);
}
