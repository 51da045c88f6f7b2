// Checks are counted, by several threads; one that fails is shown.
#pragma once

#include <atomic>
#include <cstdio>

inline std::atomic<int> failures = 0;
inline std::atomic<int> checks = 0;

inline void check(bool holds, const char* what, const char* where) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("FAILED %s: %s\n", where, what);
}
