#include <algorithm>
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

template <int Limbs>
struct SerialSums {
  static constexpr Index words = 1, steps = Index{1} << 20;
  static constexpr bool in_halves = false;
  Count counts[4] = {}, sums[4] = {};

  void add(const Word* prefix, const Word* const* planes, Index w, const std::int8_t* const* limbs) {
    for (int i = 0; i < 4; ++i) {
      const Word both = prefix[w] & planes[i][w];
      for (int byte = 0; byte < 8; ++byte) {
        const Count n = static_cast<Count>(std::popcount(both >> (8 * byte) & 0xff));
        std::int32_t score = limbs[0][8 * w + byte];
        if (Limbs > 1) score += 256 * limbs[1][8 * w + byte];
        counts[i] += n;
        sums[i] += n * static_cast<Count>(score);
      }
    }
  }
  void flush() {}
  void store(Count* of_counts, Count* of_sums) const {
    std::copy_n(counts, 4, of_counts);
    std::copy_n(sums, 4, of_sums);
  }
};

}  // namespace

void sum_serial(const SumJob& job) { sum_cells<SerialSums>(job); }

SumKernel sum_kernel(SimdLevel level) {
  switch (level) {
    case SimdLevel::serial:
      return sum_serial;
#if defined(INTERPLAY_X86)
    case SimdLevel::avx2:
      return sum_avx2;
    case SimdLevel::avx512:
      return sum_avx512;
#elif defined(INTERPLAY_ARM)
    case SimdLevel::neon:
      return sum_neon;
#endif
    default:
      throw std::invalid_argument(std::string("this build has no kernels for ") + name_of(level));
  }
}

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
