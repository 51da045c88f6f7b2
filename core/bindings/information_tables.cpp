// x·log2(x) in fixed point, and the constants of number outcomes, for engines that score elsewhere
#include <algorithm>
#include <cmath>
#include <thread>

#include "arrays.hpp"
#include "interplay/information_gain.hpp"
#include "interplay/sum_information.hpp"
#include "interplay/tuple_statistic.hpp"
#include "search_data.hpp"

using namespace nanobind::literals;

namespace interplay::bindings {
namespace {

// Fills `values` with x·log2(x) in fixed point at 0 … n, for every class and then for all classes together; with the
// pseudocounts of as many cells as each multiplicity says. Returns the worth of a unit, which is that of gains, or,
// with coefficients, that of a statistic.
double fill_information_tables(Array<const Index> class_sizes, double pseudocount, Array<const Index> multiplicities,
                               Index max_cells, Array<const Index> coefficient_of_size, Array<Fixed> values) {
  require(class_sizes.size() >= 1 && max_cells >= 1 && pseudocount >= 0, "classes, cells or pseudocount out of range");
  const std::span<const Index> sizes = span_of(class_sizes), coefficients = span_of(coefficient_of_size);
  const Index n_samples = sum_of(sizes);
  const std::size_t of_one = static_cast<std::size_t>(2 * n_samples) + sizes.size() + 1;
  require(values.size() == of_one * multiplicities.size(), "values has the wrong size");
  const int fraction_bits = coefficients.empty() ? choose_fraction_bits(sizes, pseudocount, max_cells)
                                                 : choose_fraction_bits(coefficients, sizes, pseudocount, max_cells);
  // A GPU waits for them.
  const Index max_threads = std::min<Index>(8, std::thread::hardware_concurrency());
  Fixed* next = values.data();
  const auto append = [&](const XLogX& x_log_x, Index n_max) {
    for (Index n = 0; n <= n_max; ++n) *next++ = x_log_x(static_cast<Count>(n));
  };
  for (const Index multiplicity : span_of(multiplicities)) {
    const CellInformation of_cell(sizes, pseudocount, multiplicity, n_samples + 1, fraction_bits, max_threads);
    for (std::size_t q = 0; q < sizes.size(); ++q) append(of_cell.of_class(static_cast<Index>(q)), sizes[q]);
    append(of_cell.of_total(), n_samples);
  }
  return std::ldexp(1.0, -fraction_bits);
}

// The constants of J: of S²/n, of J, log2(Q + κ), the worth of a unit of J, and Q + κ in fixed point.
nb::tuple sum_model(const Planes& planes, double pseudocount) {
  const BitPlanes view = planes.view();
  require(view.of_numbers && pseudocount >= 0, "planes of a number outcome, and a pseudocount of 0 or more");
  const SumInformation information(view, pseudocount);
  return nb::make_tuple(information.scale_of_squares(), information.factor(), information.log_of_total(),
                        information.unit(), information.total());
}

}  // namespace

void define_information_tables(nb::module_& module) {
  module.def("fill_information_tables", &fill_information_tables, "class_sizes"_a, "pseudocount"_a, "multiplicities"_a,
             "max_cells"_a, "coefficient_of_size"_a, "values"_a,
             "Tables of x·log2(x) in fixed point; returns the worth of their unit.");
  module.def("sum_model", &sum_model, "planes"_a, "pseudocount"_a,
             "Constants of the information of a number outcome: scale, factor, log of the total, unit, total.");
}

}  // namespace interplay::bindings
