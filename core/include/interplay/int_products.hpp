// rows of small integers × columns of small integers → their scalar products, exactly
#pragma once

#include <cstdint>

#include "interplay/simd_level.hpp"
#include "interplay/types.hpp"

namespace interplay {

// Columns lie in blocks of this many, samples in fours: the four samples of a column fill a lane of 32 bits.
inline constexpr Index kColumnsPerBlock = 64;
inline constexpr Index kSamplesPerLane = 4;

struct IntProductJob {
  const std::int8_t* rows;      // IN  n_rows * 4 * n_fours, zeros behind the samples
  Index n_rows;                 //
  const std::uint8_t* columns;  // IN  n_blocks * n_fours * 64 * 4: values + 128
  Index n_blocks;               //
  Index n_fours;                //
  float* products;              // OUT n_rows * 64 * n_blocks: exact sums, rounded once
};

// Whether this instruction set has a kernel; where it has none, products of floats are as fast.
bool has_int_products(SimdLevel level);

void int_products(const IntProductJob& job);

}  // namespace interplay
