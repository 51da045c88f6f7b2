#include "interplay/simd_level.hpp"
#include "kernels/column_kernels-inl.hpp"

namespace interplay {

template <class Value>
const ColumnKernels<Value>& column_kernels_portable() {
  static constexpr ColumnKernels<Value> kernels = make_column_kernels<Value>();
  return kernels;
}

template <class Value>
const ColumnKernels<Value>& column_kernels() {
#if defined(INTERPLAY_X86)
  static const bool has_avx2 = available_simd_levels().size() > 1;
  if (has_avx2) return column_kernels_avx2<Value>();
#endif
  return column_kernels_portable<Value>();
}

template const ColumnKernels<double>& column_kernels();
template const ColumnKernels<float>& column_kernels();
template const ColumnKernels<std::int8_t>& column_kernels();
template const ColumnKernels<std::uint8_t>& column_kernels();
template const ColumnKernels<std::int16_t>& column_kernels();
template const ColumnKernels<std::int32_t>& column_kernels();
template const ColumnKernels<std::int64_t>& column_kernels();

template const ColumnKernels<double>& column_kernels_portable();
template const ColumnKernels<float>& column_kernels_portable();
template const ColumnKernels<std::int8_t>& column_kernels_portable();
template const ColumnKernels<std::uint8_t>& column_kernels_portable();
template const ColumnKernels<std::int16_t>& column_kernels_portable();
template const ColumnKernels<std::int32_t>& column_kernels_portable();
template const ColumnKernels<std::int64_t>& column_kernels_portable();

}  // namespace interplay
