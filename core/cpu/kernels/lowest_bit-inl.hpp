// Intrinsics of the compiler that the kernels need. Not std::countr_zero: nothing of std:: may be instantiated in files
// built for one instruction set (see tuple_counts-inl.hpp).
#pragma once

#if defined(_MSC_VER)
#include <intrin.h>
#define INTERPLAY_INLINE __forceinline
#define INTERPLAY_NO_INLINE __declspec(noinline)
#define INTERPLAY_INLINE_LAMBDA
#else
#define INTERPLAY_INLINE inline __attribute__((always_inline))
#define INTERPLAY_NO_INLINE __attribute__((noinline))
#define INTERPLAY_INLINE_LAMBDA __attribute__((always_inline))  // after the parameters
#endif

namespace {

inline int lowest_bit(int mask) {
#if defined(_MSC_VER)
  unsigned long bit;
  _BitScanForward(&bit, static_cast<unsigned long>(mask));
  return static_cast<int>(bit);
#else
  return __builtin_ctz(static_cast<unsigned>(mask));
#endif
}

}  // namespace
