#include "interplay/few_values.hpp"

#include <algorithm>

#include "interplay/column_kernels.hpp"

namespace interplay {
namespace {

constexpr Index kAtOnce = 512;

}  // namespace

template <class Value>
Index find_few_values(const Value* values, Index n, Value* found) {
  const ColumnKernels<Value>& kernels = column_kernels<Value>();
  Index n_found = 0, begin = 0;
  while (begin < n) {
    // Entries beyond the values found so far repeat the first value.
    const Value a = n_found > 0 ? found[0] : values[0], b = n_found > 1 ? found[1] : a, c = n_found > 2 ? found[2] : a;
    const Index size = std::min(kAtOnce, n - begin);
    if (n_found > 0 && !kernels.has_others(values + begin, size, a, b, c)) {
      begin += size;
      continue;
    }
    while (n_found > 0 && (values[begin] == a || values[begin] == b || values[begin] == c)) ++begin;
    if (n_found == kFewValues || values[begin] != values[begin]) {
      return kernels.has_nan(values + begin, n - begin) ? -1 : kFewValues + 1;
    }
    found[n_found++] = values[begin];
  }
  std::sort(found, found + n_found);
  return n_found;
}

template Index find_few_values(const double*, Index, double*);
template Index find_few_values(const float*, Index, float*);
template Index find_few_values(const std::int8_t*, Index, std::int8_t*);
template Index find_few_values(const std::uint8_t*, Index, std::uint8_t*);
template Index find_few_values(const std::int16_t*, Index, std::int16_t*);
template Index find_few_values(const std::int32_t*, Index, std::int32_t*);
template Index find_few_values(const std::int64_t*, Index, std::int64_t*);

}  // namespace interplay
