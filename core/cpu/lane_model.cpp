#include "interplay/lane_model.hpp"

#include <algorithm>
#include <cmath>

namespace interplay {
namespace {

// Of the approximate reciprocal, relative.
constexpr double kReciprocalError = 1.5 * 0x1p-12;

// KL divergence in bits of share x from share q.
double divergence(double x, double q) {
  const auto term = [](double a, double b) { return a > 0 ? a * std::log2(a / b) : 0.0; };
  return term(x, q) + term(1 - x, 1 - q);
}

}  // namespace

LaneModel make_lane_model(std::span<const Index> class_sizes, double pseudocount, double n_cells) {
  const double n_0 = static_cast<double>(class_sizes[0]);
  const double n_1 = static_cast<double>(class_sizes[1]);
  const double n = n_0 + n_1;
  const double q = n_0 / n;
  const double beta = pseudocount / std::min(n_0, n_1);

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

  LaneModel model{};
  model.share = static_cast<float>(q);
  model.pseudo = static_cast<float>(beta * n);
  model.a = static_cast<float>(a);
  model.b = static_cast<float>(b);
  model.c = static_cast<float>(c);
  model.d = static_cast<float>(d);
  model.e_lower = static_cast<float>(e_lower - 1e-3 * std::abs(e_lower));
  model.e_upper = static_cast<float>(e_upper + 1e-3 * std::abs(e_upper));
  // A relative error of the reciprocal, so of δ, grows by this much on its way through δ·P(δ); 1e-4 for all the rest.
  double sensitivity = 0;
  for (int step = 0; step <= n_steps; ++step) {
    const double x = -q + static_cast<double>(step) / n_steps;
    for (const double e : {e_lower, e_upper}) {
      const double value = (((e * x + d) * x + c) * x + b) * x + a;
      const double slope = ((4 * e * x + 3 * d) * x + 2 * c) * x + b;
      sensitivity = std::max(sensitivity, std::abs(1 + x * slope / value));
    }
  }
  model.inflation = static_cast<float>(1 + 1e-4 + sensitivity * kReciprocalError);
  // Sums are rounded in proportion to all that is counted, pseudocounts included.
  model.slack = static_cast<float>(0.01 + 1e-5 * n * (1 + n_cells * beta));
  return model;
}

bool polynomial_is_sound(const LaneModel& model) { return model.inflation < 1.01f; }

}  // namespace interplay
