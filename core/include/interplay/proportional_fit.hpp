// G² of tables of counts under H0 of the interaction test, by iterative proportional fitting (IPF).
#pragma once

#include <span>

#include "interplay/simd_level.hpp"
#include "interplay/types.hpp"

namespace interplay {

struct FitOptions {
  double tolerance;  // of G², times 1 + G²
  Index max_sweeps;  // 0 leaves Kirkwood's product, whose G² is a bound
};

// More members would take products of margins beyond the largest double.
inline constexpr Index kMaxFittedMembers = 5;

// Fits each of the tables of one shape, (levels …, classes), that lie one after the other in `counts`.
//
// G² = 2 Σ n ln(n/μ), with μ from Kirkwood's product by sweeps over all margins that H0 keeps, until the rest that G²
// has to fall, judged by its last two steps (Aitken), is below the tolerance. It is never below its minimum, but for
// rounding. `is_complete` says of which tables all these margins are positive.
void fit_tables(std::span<const Index> counts, std::span<const Index> shape, const FitOptions& options, SimdLevel level,
                std::span<double> g2, std::span<bool> is_complete);

}  // namespace interplay
