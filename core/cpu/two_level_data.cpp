#include "interplay/two_level_data.hpp"

#include <algorithm>
#include <cmath>

namespace interplay {
namespace {

// Below this share of the rarer class polynomials let too many tuples through.
constexpr double kMinShareForPolynomial = 0.3;

// KL divergence in bits of share x from share q.
double divergence(double x, double q) {
  const auto term = [](double a, double b) { return a > 0 ? a * std::log2(a / b) : 0.0; };
  return term(x, q) + term(1 - x, 1 - q);
}

}  // namespace

bool TwoLevelData::applies_to(const SearchProblem& problem) {
  const BitPlanes& planes = problem.planes;
  const Index k = problem.tiles.dimensions;
  // Without pseudocounts an empty cell would make the bound divide by zero.
  if (planes.n_classes() != 2 || k < 2 || k > kMaxFastDimensions || problem.pseudocount < 1e-6) return false;
  if (std::max(planes.class_sizes[0], planes.class_sizes[1]) > kMaxFastClassSize) return false;
  return std::any_of(problem.blocks.order.begin(), problem.blocks.order.end(),
                     [&](Index row) { return planes.n_levels[row] == 2; });
}

bool TwoLevelData::applies_to_all(const SearchProblem& problem) {
  return applies_to(problem) &&
         std::all_of(problem.blocks.order.begin(), problem.blocks.order.end(),
                     [&](Index row) { return problem.planes.n_levels[row] == 2; });
}

TwoLevelData::TwoLevelData(const SearchProblem& problem) : problem_(problem), layout_(problem.planes) {
  const VariableBlocks& blocks = problem.blocks;
  const BitPlanes& planes = problem.planes;
  chunk_start_.push_back(0);
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    const bool two_levels = planes.n_levels[blocks.order[blocks.lane_start[b]]] == 2;
    const Index size = blocks.lane_start[b + 1] - blocks.lane_start[b];
    chunk_start_.push_back(chunk_start_.back() + (two_levels ? (size + kLanes - 1) / kLanes : 0));
  }
  rows_.resize(chunk_start_.back() * layout_.n_words);
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    for (Index chunk = chunk_start_[b]; chunk < chunk_start_[b + 1]; ++chunk) {
      const Index begin = blocks.lane_start[b] + (chunk - chunk_start_[b]) * kLanes;
      const Index n_lanes = std::min(kLanes, blocks.lane_start[b + 1] - begin);
      const auto word_of = [&](Index lane, Index word) { return planes.plane(blocks.order[begin + lane], 1)[word]; };
      fill_sample_rows(planes, layout_, n_lanes, word_of, rows_.data() + chunk * layout_.n_words);
    }
  }
  make_model();
}

bool TwoLevelData::applies_to(const std::int32_t* tile) const {
  const VariableBlocks& blocks = problem_.blocks;
  const Index k = problem_.tiles.dimensions;
  for (Index m = 0; m < k; ++m) {
    const Index first = blocks.starts(m, k)[tile[m]];
    if (problem_.planes.n_levels[blocks.order[first]] != 2) return false;
  }
  return true;
}

void TwoLevelData::make_model() {
  const double n_0 = static_cast<double>(problem_.planes.class_sizes[0]);
  const double n_1 = static_cast<double>(problem_.planes.class_sizes[1]);
  const double n = n_0 + n_1;
  const double q = n_0 / n;
  const double beta = problem_.pseudocount / std::min(n_0, n_1);
  const double n_cells = std::exp2(static_cast<double>(problem_.tiles.dimensions));

  // Taylor's coefficients of KL / δ², exact at δ = 0; the last one is the least and the most that covers all δ.
  const auto taylor = [&](int order) {
    const double sign = order % 2 ? -1.0 : 1.0;
    return (sign * std::pow(q, 1 - order) + std::pow(1 - q, 1 - order)) / (order * (order - 1) * std::log(2.0));
  };
  const double a = taylor(2), b = taylor(3), c = taylor(4), d = taylor(5);
  double e_lower = taylor(6), e_upper = e_lower;
  constexpr int n_steps = 4000;
  for (int step = 0; step <= n_steps; ++step) {
    const double delta = -q + static_cast<double>(step) / n_steps;
    if (std::abs(delta) < 3e-2) continue;  // cancellation; the limit at 0 is the value above
    const double rest = divergence(q + delta, q) / (delta * delta) - (((d * delta + c) * delta + b) * delta + a);
    const double e = rest / (delta * delta * delta * delta);
    e_lower = std::min(e_lower, e);
    e_upper = std::max(e_upper, e);
  }

  model_.share = static_cast<float>(q);
  model_.pseudo = static_cast<float>(beta * n);
  model_.a = static_cast<float>(a);
  model_.b = static_cast<float>(b);
  model_.c = static_cast<float>(c);
  model_.d = static_cast<float>(d);
  model_.e_lower = static_cast<float>(e_lower - 1e-3 * std::abs(e_lower));
  model_.e_upper = static_cast<float>(e_upper + 1e-3 * std::abs(e_upper));
  // A reciprocal is good to 1.5 · 2⁻¹², and enters the bound up to the fifth power.
  model_.inflation = 1.0f + 0x1p-8f;
  // Sums are rounded in proportion to all that is counted, pseudocounts included.
  model_.slack = static_cast<float>(0.01 + 1e-5 * n * (1 + n_cells * beta));
  polynomial_is_tight_ = std::min(q, 1 - q) >= kMinShareForPolynomial;
  offset_ = (n_0 + n_cells * beta * n_0) * std::log2(q) + (n_1 + n_cells * beta * n_1) * std::log2(1 - q);
}

}  // namespace interplay
