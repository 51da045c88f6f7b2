// interplay._core: the compiled functions, as numpy sees them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "interplay/simd_level.hpp"
#include "without_gil.hpp"

namespace {

std::vector<std::string> simd_levels() {
  std::vector<std::string> names;
  for (const interplay::SimdLevel level : interplay::available_simd_levels()) names.emplace_back(name_of(level));
  return names;
}

}  // namespace

NB_MODULE(_core, module) {
  interplay::bindings::WithoutGil::watch_interpreter();
  // A daemon thread that is in a search when the program ends keeps its arguments: that is no leak to be told of.
  nanobind::set_leak_warnings(false);
  module.doc() = "Counting and scoring of tuples; use it through interplay.search.engines.";
  module.def("simd_levels", &simd_levels, "Instruction sets that can run here, slowest first.");
  interplay::bindings::define_columns(module);
  interplay::bindings::define_information_tables(module);
  interplay::bindings::define_int_products(module);
  interplay::bindings::define_proportional_fit(module);
  interplay::bindings::define_search_data(module);
  interplay::bindings::define_search(module);
}
