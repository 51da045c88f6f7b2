// Which instruction sets this build has and this processor runs.
#pragma once

#include <string>
#include <vector>

namespace interplay {

enum class SimdLevel { serial, avx2, avx512, neon };

const char* name_of(SimdLevel level);

// The instruction sets that were compiled in and that the processor supports, slowest first; serial is always there.
std::vector<SimdLevel> available_simd_levels();

// The instruction set of that name, or the best one for "auto"; throws std::invalid_argument if it cannot run here.
SimdLevel simd_level_from_name(const std::string& name);

}  // namespace interplay
