#include "kernels/column_kernels-inl.hpp"

namespace interplay {

template <class Value>
const ColumnKernels<Value>& column_kernels_avx2() {
  static constexpr ColumnKernels<Value> kernels = make_column_kernels<Value>();
  return kernels;
}

template const ColumnKernels<double>& column_kernels_avx2();
template const ColumnKernels<float>& column_kernels_avx2();
template const ColumnKernels<std::int8_t>& column_kernels_avx2();
template const ColumnKernels<std::uint8_t>& column_kernels_avx2();
template const ColumnKernels<std::int16_t>& column_kernels_avx2();
template const ColumnKernels<std::int32_t>& column_kernels_avx2();
template const ColumnKernels<std::int64_t>& column_kernels_avx2();

}  // namespace interplay
