#include "information/lane_model.hpp"

#include <algorithm>
#include <array>
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

// Where the share of a class is nearer to a half than this, over the number of cells, polynomials are even: cheaper,
// and looser by little. The loss adds up over the cells.
constexpr double kNearlyEven = 0.32;

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

// Of δ⁰ … δ⁴.
using Coefficients = std::array<double, 5>;

// KL / δ² from one end of δ to the other.
constexpr int kSteps = 1000;
using Ratios = std::array<double, kSteps + 1>;

double delta_at(int step, double q) { return -q + static_cast<double>(step) / kSteps; }

Ratios all_ratios(double q) {
  Ratios ratios;
  for (int step = 0; step <= kSteps; ++step) ratios[step] = ratio(delta_at(step, q), q);
  return ratios;
}

// A cubic that meets KL / δ² at ±near, values and slopes; plus the least or the most of (δ² − near²)² that covers all
// δ, which changes neither there. An even one meets it on the side where it is further out, and is a bound on the
// other.
Coefficients bounding_polynomial(double q, const Ratios& ratios, bool upper, bool is_even) {
  const double near = std::min(kExactAt * std::sqrt(q * (1 - q)), 0.5 * std::min(q, 1 - q));
  const double squared = near * near;
  double value_0 = ratio(-near, q), value_1 = ratio(near, q);
  double slope_0 = slope_of_ratio(-near, q), slope_1 = slope_of_ratio(near, q);
  if (is_even) {
    if ((value_0 > value_1) == upper) {
      value_1 = value_0;
      slope_1 = -slope_0;
    } else {
      value_0 = value_1;
      slope_0 = -slope_1;
    }
  }
  const double chord = (value_1 - value_0) / (2 * near);
  const double c = (slope_1 - slope_0) / (4 * near), a = (value_0 + value_1) / 2 - c * squared;
  const double d = ((slope_0 + slope_1) / 2 - chord) / (2 * squared), b = chord - d * squared;
  double e = (ratio(0, q) - a) / (squared * squared);
  for (int step = 0; step <= kSteps; ++step) {
    const double delta = delta_at(step, q);
    if (std::abs(std::abs(delta) - near) < 0.05 * near) continue;  // cancellation, where it makes next to no difference
    const double apart = delta * delta - squared;
    const double left_over = (ratios[step] - (((d * delta + c) * delta + b) * delta + a)) / (apart * apart);
    e = upper ? std::max(e, left_over) : std::min(e, left_over);
  }
  e += (upper ? 1e-3 : -1e-3) * std::abs(e);
  return {a + e * squared * squared, b, c - 2 * e * squared, d, e};
}

// A polynomial as SquaredPolynomial has it, of δ itself.
struct Squared {
  double first, second, third, fourth, last;

  explicit Squared(const Coefficients& of_power) : last(of_power[4]) {
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

struct Given {
  Index size_0, size_1;
  double pseudocount, n_cells;
  bool operator==(const Given&) const = default;
};

LaneModel model_of(const Given& given) {
  const auto& [size_0, size_1, pseudocount, n_cells] = given;
  const double n_0 = static_cast<double>(size_0);
  const double n_1 = static_cast<double>(size_1);
  const double n = n_0 + n_1;
  const double q = n_0 / n;
  const double beta = pseudocount / std::min(n_0, n_1);

  LaneModel model{};
  model.is_even = std::abs(q - 0.5) * n_cells <= kNearlyEven;
  const Index divisor = std::gcd(size_0, size_1);
  model.weights[0] = static_cast<std::int16_t>(size_1 / divisor);
  model.weights[1] = static_cast<std::int16_t>(-(size_0 / divisor));
  model.scale = static_cast<float>(static_cast<double>(divisor) / n);
  model.share = static_cast<float>(q);
  model.pseudo = static_cast<float>(beta * n);
  // A relative error of the reciprocal, so of δ, grows by `sensitivity` on its way through δ·P(δ), one of rounding
  // within P by `sizes`; 1e-4 for all the rest.
  double sensitivity = 0, sizes = 0;
  const Ratios ratios = all_ratios(q);
  for (const bool upper : {false, true}) {
    const auto coefficients = bounding_polynomial(q, ratios, upper, model.is_even);
    const Squared polynomial(coefficients);
    for (int step = 0; step <= kSteps; ++step) {
      const double x = delta_at(step, q);
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

}  // namespace

LaneModel make_lane_model(std::span<const Index> class_sizes, double pseudocount, double n_cells) {
  // Often the same as before: of the next discretisation, the next sample of the variables.
  thread_local Given last{};
  thread_local LaneModel model{};
  const Given given{class_sizes[0], class_sizes[1], pseudocount, n_cells};
  if (given != last) {
    model = model_of(given);
    last = given;
  }
  return model;
}

InformationOffset::InformationOffset(std::span<const Index> class_sizes, double pseudocount) {
  const double n = static_cast<double>(std::accumulate(class_sizes.begin(), class_sizes.end(), Index{0}));
  const double beta = pseudocount / static_cast<double>(*std::min_element(class_sizes.begin(), class_sizes.end()));
  for (const Index size : class_sizes) {
    const double n_q = static_cast<double>(size);
    of_samples_ += n_q * std::log2(n_q / n);
    of_cell_ += beta * n_q * std::log2(n_q / n);
  }
}

bool polynomial_is_sound(const LaneModel& model) { return model.inflation < 1.01f; }

}  // namespace interplay
