// The portable kernels, but for those of two classes side by side, and which kernels run where.
#include "kernels/portable_simd-inl.hpp"

const interplay::LaneKernels& interplay::lane_kernels_portable() {
  static const LaneKernels kernels = [] {
    LaneKernels all{};
    set_single_kernels<PortableSimd, PortableSimd, CarrySaveAdder<PortableSimd>>(all, sum_serial);
    set_portable_paired_kernels(all.paired);
    set_portable_small_cell_kernels(all.paired);
    return all;
  }();
  return kernels;
}

const interplay::LaneKernels& interplay::lane_kernels(SimdLevel level) {
  switch (level) {
#if defined(INTERPLAY_X86)
    case SimdLevel::avx2:
      return lane_kernels_avx2();
    case SimdLevel::avx512:
      return lane_kernels_avx512();
#elif defined(INTERPLAY_ARM)
    case SimdLevel::neon:
      return lane_kernels_neon();
#endif
    default:
      return lane_kernels_portable();
  }
}
