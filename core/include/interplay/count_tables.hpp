// bit planes + tuples → samples per cell and class
#pragma once

#include "interplay/simd_level.hpp"
#include "interplay/types.hpp"

namespace interplay {

// Count the tables of tuples whose members have the same numbers of levels, place by place. Fast where neighbours share
// their first members.
// tuples: IN n_tuples * dimensions, rows of the planes
// counts: OUT n_tuples tables; the first member varies slowest, the class fastest
void count_tables(const BitPlanes& planes, std::span<const Index> tuples, Index dimensions, SimdLevel level,
                  std::span<Index> counts);

}  // namespace interplay
