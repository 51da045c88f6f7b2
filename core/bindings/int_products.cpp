// products of small integers, for the screens of products of variables
#include "interplay/int_products.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "without_gil.hpp"

using namespace nanobind::literals;

namespace interplay::bindings {
namespace {

bool int_products(Array<const std::int8_t> rows, Array<const std::uint8_t> columns, const std::string& instruction_set,
                  Array<float> products) {
  require(rows.ndim() == 2 && columns.ndim() == 4 && products.ndim() == 2, "wrong dimensions");
  const std::size_t n_rows = rows.shape(0), n_blocks = columns.shape(0), n_fours = columns.shape(1);
  require(columns.shape(2) == kColumnsPerBlock && columns.shape(3) == kSamplesPerLane &&
              rows.shape(1) == kSamplesPerLane * n_fours && products.shape(0) == n_rows &&
              products.shape(1) == n_blocks * kColumnsPerBlock,
          "rows, columns and products do not fit");
  if (!has_int_products(simd_level_from_name(instruction_set))) return false;
  WithoutGil without_gil;
  interplay::int_products({rows.data(), static_cast<Index>(n_rows), columns.data(), static_cast<Index>(n_blocks),
                           static_cast<Index>(n_fours), products.data()});
  return true;
}

}  // namespace

void define_int_products(nb::module_& module) {
  module.def("int_products", &int_products, "rows"_a, "columns"_a, "simd_level"_a, "products"_a,
             "Multiply rows by packed columns of small integers; false where the instruction set has no kernel.");
}

}  // namespace interplay::bindings
