#include "interplay/lane_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace interplay {
namespace {

// Of the approximate reciprocal, relative.
constexpr double kReciprocalError = 1.5 * 0x1p-12;

// Of the eight operations that make a polynomial, relative to all that is added up.
constexpr double kRoundingError = 8 * 0x1p-24;

// Where the polynomials are exact, in standard deviations of one sample. Tuples of such cells say much, and looser
// bounds would leave many of them to be scored exactly.
constexpr double kExactAt = 0.45;

// KL / δ², in bits, of share q + δ from share q.
double ratio(double delta, double q) {
  if (std::abs(delta) < 0.1 * std::min(q, 1 - q)) {  // cancellation: Taylor's series instead
    double sum = 0, power_0 = 1 / q, power_1 = 1 / (1 - q);
    for (int order = 2; order < 20; ++order, power_0 *= -delta / q, power_1 *= delta / (1 - q)) {
      sum += (power_0 + power_1) / (order * (order - 1));
    }
    return sum / std::log(2.0);
  }
  const auto term = [](double a, double b) { return a > 0 ? a * std::log2(a / b) : 0.0; };
  return (term(q + delta, q) + term(1 - q - delta, 1 - q)) / (delta * delta);
}

double slope_of_ratio(double delta, double q) {
  const double slope_of_divergence = std::log2((q + delta) / q * (1 - q) / (1 - q - delta));
  return (slope_of_divergence / delta - 2 * ratio(delta, q)) / delta;
}

// A polynomial as SquaredPolynomial has it, of δ itself.
struct Squared {
  double first, second, third, fourth, last;

  // From the coefficients of δ⁰ … δ⁴.
  explicit Squared(const double (&of_power)[5]) : last(of_power[4]) {
    first = of_power[3] / (2 * last);
    second = (of_power[2] / last - first * first) / 2;
    third = of_power[1] / last - 2 * first * second;
    fourth = of_power[0] / last - second * second;
  }

  // All that is added up, which rounding is in proportion to.
  double size_at(double x) const {
    const double square = x * x + std::abs(first * x) + std::abs(second);
    return last * (square * square + std::abs(third * x) + std::abs(fourth));
  }

  SquaredPolynomial scaled(double scale) const {
    const auto per = [&](double value, int power) { return static_cast<float>(value / std::pow(scale, power)); };
    return {per(first, 1), per(second, 2), per(third, 3), per(fourth, 4), per(last, -6)};
  }
};

}  // namespace

LaneModel make_lane_model(std::span<const Index> class_sizes, double pseudocount, double n_cells) {
  const double n_0 = static_cast<double>(class_sizes[0]);
  const double n_1 = static_cast<double>(class_sizes[1]);
  const double n = n_0 + n_1;
  const double q = n_0 / n;
  const double beta = pseudocount / std::min(n_0, n_1);

  // A cubic that meets KL / δ² at ±near, values and slopes; plus the least and the most of (δ² − near²)² that covers
  // all δ, which changes neither there.
  const double near = std::min(kExactAt * std::sqrt(q * (1 - q)), 0.5 * std::min(q, 1 - q));
  const double squared = near * near;
  const double value_0 = ratio(-near, q), value_1 = ratio(near, q);
  const double slope_0 = slope_of_ratio(-near, q), slope_1 = slope_of_ratio(near, q);
  const double chord = (value_1 - value_0) / (2 * near);
  const double c = (slope_1 - slope_0) / (4 * near), a = (value_0 + value_1) / 2 - c * squared;
  const double d = ((slope_0 + slope_1) / 2 - chord) / (2 * squared), b = chord - d * squared;
  const auto left_over = [&](double delta) {
    const double apart = delta * delta - squared;
    return (ratio(delta, q) - (((d * delta + c) * delta + b) * delta + a)) / (apart * apart);
  };
  double e_lower = left_over(0), e_upper = e_lower;
  constexpr int n_steps = 1000;
  for (int step = 0; step <= n_steps; ++step) {
    const double delta = -q + static_cast<double>(step) / n_steps;
    if (std::abs(std::abs(delta) - near) < 0.05 * near) continue;  // cancellation, where it makes next to no difference
    const double e = left_over(delta);
    e_lower = std::min(e_lower, e);
    e_upper = std::max(e_upper, e);
  }
  e_lower -= 1e-3 * std::abs(e_lower);
  e_upper += 1e-3 * std::abs(e_upper);

  LaneModel model{};
  const Index divisor = std::gcd(class_sizes[0], class_sizes[1]);
  model.weights[0] = static_cast<std::int16_t>(class_sizes[1] / divisor);
  model.weights[1] = static_cast<std::int16_t>(-(class_sizes[0] / divisor));
  model.scale = static_cast<float>(static_cast<double>(divisor) / n);
  model.share = static_cast<float>(q);
  model.pseudo = static_cast<float>(beta * n);
  // A relative error of the reciprocal, so of δ, grows by `sensitivity` on its way through δ·P(δ), one of rounding
  // within P by `sizes`; 1e-4 for all the rest.
  double sensitivity = 0, sizes = 0;
  for (const bool upper : {false, true}) {
    const double e = upper ? e_upper : e_lower;
    const double coefficients[] = {a + e * squared * squared, b, c - 2 * e * squared, d, e};
    const Squared polynomial(coefficients);
    for (int step = 0; step <= n_steps; ++step) {
      const double x = -q + static_cast<double>(step) / n_steps;
      double value = 0, slope = 0;
      for (int power = 4; power >= 0; --power) {
        slope = slope * x + value;
        value = value * x + coefficients[power];
      }
      sensitivity = std::max(sensitivity, std::abs(1 + x * slope / value));
      sizes = std::max(sizes, polynomial.size_at(x) / std::abs(value));
    }
    (upper ? model.upper : model.lower) = polynomial.scaled(static_cast<double>(divisor) / n);
  }
  model.inflation = static_cast<float>(1 + 1e-4 + sensitivity * kReciprocalError + sizes * kRoundingError);
  // Sums are rounded in proportion to all that is counted, pseudocounts included.
  model.slack = static_cast<float>(0.01 + 1e-5 * n * (1 + n_cells * beta));
  return model;
}

bool polynomial_is_sound(const LaneModel& model) { return model.inflation < 1.01f; }

}  // namespace interplay
