#include "interplay/int_products.hpp"

#include <stdexcept>

namespace interplay {

#if defined(INTERPLAY_X86)
void int_products_avx512(const IntProductJob& job);
#endif

bool has_int_products(SimdLevel level) { return level == SimdLevel::avx512; }

void int_products([[maybe_unused]] const IntProductJob& job) {
#if defined(INTERPLAY_X86)
  int_products_avx512(job);
#else
  throw std::logic_error("no kernel for products of integers");
#endif
}

}  // namespace interplay
