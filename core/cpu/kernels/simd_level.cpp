#include "interplay/simd_level.hpp"

#include <stdexcept>

#if defined(INTERPLAY_X86) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace interplay {
namespace {

#if defined(INTERPLAY_X86)
#if defined(_MSC_VER)
// MSVC has no __builtin_cpu_supports: ask cpuid, and the operating system whether it saves the wide registers.
bool cpuid_bit(int leaf, int reg, int bit) {
  int regs[4];
  __cpuidex(regs, leaf, 0);
  return (regs[reg] >> bit) & 1;
}
bool os_saves(unsigned long long mask) { return cpuid_bit(1, 2, 27) && (_xgetbv(0) & mask) == mask; }
bool runs_avx2() { return os_saves(0x6) && cpuid_bit(7, 1, 5) && cpuid_bit(1, 2, 23) && cpuid_bit(1, 2, 12); }
bool runs_avx512() {
  return os_saves(0xE6) && cpuid_bit(7, 1, 16) && cpuid_bit(7, 1, 17) && cpuid_bit(7, 1, 30) && cpuid_bit(7, 1, 31) &&
         cpuid_bit(7, 2, 14) && cpuid_bit(7, 2, 12) && cpuid_bit(7, 2, 11);
}
#else
bool runs_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool runs_avx512() {
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bitalg") &&
         __builtin_cpu_supports("avx512vnni");
}
#endif
#endif

}  // namespace

const char* name_of(SimdLevel level) {
  switch (level) {
    case SimdLevel::serial:
      return "serial";
    case SimdLevel::avx2:
      return "avx2";
    case SimdLevel::avx512:
      return "avx512";
    case SimdLevel::neon:
      return "neon";
  }
  return "unknown";
}

std::vector<SimdLevel> available_simd_levels() {
  std::vector<SimdLevel> levels{SimdLevel::serial};
#if defined(INTERPLAY_X86)
  if (runs_avx2()) levels.push_back(SimdLevel::avx2);
  if (runs_avx512()) levels.push_back(SimdLevel::avx512);
#elif defined(INTERPLAY_ARM)
  levels.push_back(SimdLevel::neon);  // part of every 64-bit Arm processor
#endif
  return levels;
}

SimdLevel simd_level_from_name(const std::string& name) {
  const auto levels = available_simd_levels();
  if (name == "auto") return levels.back();
  std::string known = "auto";
  for (const SimdLevel level : levels) {
    if (name == name_of(level)) return level;
    known += std::string(", ") + name_of(level);
  }
  throw std::invalid_argument("SIMD level '" + name + "' cannot run on this machine; it has " + known);
}

}  // namespace interplay
