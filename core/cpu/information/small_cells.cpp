#include "information/small_cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace interplay {
namespace {

constexpr int kEntries = 16;

// Finer steps than this, in bits, would make no difference.
constexpr double kLeastUnit = 1e-3;

// Of f less its chord, relative to f.
constexpr double kRoundingError = 4e-15;

// f less its chord: 0 at both ends, negative between them.
struct BelowChord {
  double at_zero, slope;  // of the chord
  double rounding;        // of values, at most
  std::array<double, kEntries> values;

  explicit BelowChord(double beta) {
    const auto f = [&](int n) { return (n + beta) * std::log2(n + beta); };
    at_zero = f(0);
    slope = (f(kEntries - 1) - at_zero) / (kEntries - 1);
    rounding = kRoundingError * std::max(std::abs(f(kEntries - 1)), 1.0);
    for (int n = 0; n < kEntries; ++n) values[n] = f(n) - at_zero - slope * n;
  }
  double depth() const { return -*std::min_element(values.begin(), values.end()); }
};

std::uint8_t rounded_up(double steps) { return static_cast<std::uint8_t>(std::clamp(std::ceil(steps), 0.0, 255.0)); }

}  // namespace

SmallCellTables make_small_cell_tables(std::span<const Index> class_sizes, double pseudocount) {
  const double n_0 = static_cast<double>(class_sizes[0]), n_1 = static_cast<double>(class_sizes[1]);
  const double beta = pseudocount / std::min(n_0, n_1);
  const BelowChord of_total(beta * (n_0 + n_1));
  const std::array<BelowChord, 2> of_class{BelowChord(beta * n_0), BelowChord(beta * n_1)};
  const double depth = std::max({of_total.depth(), of_class[0].depth(), of_class[1].depth()});

  SmallCellTables tables{};
  tables.same_classes = class_sizes[0] == class_sizes[1];
  // 252 steps, and the steps that rounding may add, fit a byte.
  tables.unit = static_cast<float>(std::max({depth / 252, kLeastUnit, 4 * of_total.rounding}));
  const double unit = static_cast<double>(tables.unit);
  tables.of_cell = -of_total.at_zero;
  for (int n = 1; n < kEntries; ++n) {  // entry 0 is 0
    tables.of_total[n] = rounded_up((of_total.rounding - of_total.values[n]) / unit);
  }
  for (int q = 0; q < 2; ++q) {
    const double n_q = static_cast<double>(class_sizes[q]), log_share = std::log2(n_q / (n_0 + n_1));
    // Entry 0 is a whole number of steps.
    const double deepest = std::ceil(of_class[q].depth() / unit);
    tables.of_class[q][0] = static_cast<std::uint8_t>(deepest);
    for (int n = 1; n < kEntries; ++n) {
      tables.of_class[q][n] = rounded_up((of_class[q].values[n] + of_class[q].rounding) / unit + deepest);
    }
    tables.of_cell += of_class[q].at_zero - deepest * unit - beta * n_q * log_share;
    tables.of_sample[q] = of_class[q].slope - of_total.slope - log_share;
  }
  return tables;
}

}  // namespace interplay
