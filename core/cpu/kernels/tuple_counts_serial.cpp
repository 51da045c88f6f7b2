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
  using Bits = Word;
  Index n = 0, of_limb[Limbs] = {};

  static Word load(const Word* words) { return *words; }
  // The counts of bytes, side by side.
  static Word counts_of(Word a, Word b) {
    Word x = a & b;
    x -= x >> 1 & 0x5555555555555555;
    x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
    return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
  }
  void add_scores(int limb, Word counts, const std::int8_t* scores) {
    for (int byte = 0; byte < 8; ++byte) of_limb[limb] += static_cast<Index>(counts >> (8 * byte) & 0xff) * scores[byte];
  }
  void add_counts(Word counts) { n += static_cast<Index>(counts * 0x0101010101010101 >> 56); }
  void flush() {}
  Index total() const { return n; }
  Index sum(int limb) const { return of_limb[limb]; }
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
