// Not an inline function that the linker could take from a file built for one instruction set (see
// tuple_counts-inl.hpp).
#pragma once

#include "interplay/types.hpp"

namespace {

// The bytes that are 0 or 1 as bits, the first byte's lowest.
constexpr interplay::Word as_bits(interplay::Word bytes) { return (bytes * 0x0102040810204080) >> 56; }

}  // namespace
