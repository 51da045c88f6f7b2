#include "kernels/avx2_simd.hpp"
#include "kernels/lane_kernels-inl.hpp"

const interplay::LaneKernels& interplay::lane_kernels_avx2() {
  static constexpr LaneKernels kernels = make_lane_kernels<Avx2Simd>(sum_avx2);
  return kernels;
}
