#include <bit>
#include <stdexcept>

#include "kernels/tuple_counts-inl.hpp"

namespace interplay {
namespace {

struct SerialLanes {
  static constexpr Index words = 1;
  Index sum = 0;
  void add_popcount(const Word* a, const Word* b) { sum += std::popcount(*a & *b); }
  Index total() const { return sum; }
};

}  // namespace

void count_serial(const CountJob& job) { count_cells<SerialLanes>(job); }

CountKernel count_kernel(SimdLevel level) {
  switch (level) {
    case SimdLevel::serial:
      return count_serial;
#if defined(INTERPLAY_X86)
    case SimdLevel::avx2:
      return count_avx2;
    case SimdLevel::avx512:
      return count_avx512;
#elif defined(INTERPLAY_ARM)
    case SimdLevel::neon:
      return count_neon;
#endif
    default:
      throw std::invalid_argument(std::string("this build has no kernels for ") + name_of(level));
  }
}

}  // namespace interplay
