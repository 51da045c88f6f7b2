// G² of tables, for the lists of interactions
#include "interplay/proportional_fit.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "without_gil.hpp"

using namespace nanobind::literals;

namespace interplay::bindings {
namespace {

void fit_tables(Array<const Index> counts, Array<const Index> shape, double tolerance, Index max_sweeps,
                const std::string& instruction_set, Array<double> g2, Array<bool> is_complete) {
  const std::span<const Index> lengths = span_of(shape);
  require(lengths.size() >= 2 && static_cast<Index>(lengths.size()) <= kMaxFittedMembers + 1,
          "shape must have levels of one to five members, and the classes");
  std::size_t n_entries = 1;
  for (const Index length : lengths) {
    require(length >= 1 && n_entries < (std::size_t{1} << 31) / static_cast<std::size_t>(length), "shape out of range");
    n_entries *= static_cast<std::size_t>(length);
  }
  require(counts.size() == n_entries * g2.size() && is_complete.size() == g2.size(), "counts do not fit the shape");
  for (const Index count : span_of(counts)) require(count >= 0, "counts must not be negative");
  require(max_sweeps >= 0 && tolerance >= 0, "tolerance or sweeps out of range");
  const SimdLevel level = simd_level_from_name(instruction_set);
  WithoutGil without_gil;
  interplay::fit_tables(span_of(counts), lengths, {tolerance, max_sweeps}, level, span_of(g2), span_of(is_complete));
}

}  // namespace

void define_proportional_fit(nb::module_& module) {
  module.def("fit_tables", &fit_tables, "counts"_a, "shape"_a, "tolerance"_a, "max_sweeps"_a, "simd_level"_a,
             "g2"_a.noconvert(), "is_complete"_a.noconvert(),
             "G² of tables of one shape under H0 of the interaction test, by proportional fitting.");
}

}  // namespace interplay::bindings
