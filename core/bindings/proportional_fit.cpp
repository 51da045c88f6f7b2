// G² of tables, for the lists of interactions
#include "interplay/proportional_fit.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "interplay/table_draws.hpp"
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

// Tables of several tuples, each from its own seed.
void draw_tables(Array<const std::uint32_t> seeds, Array<const Index> cell_sizes, Array<const double> chances,
                 Array<Index> tables) {
  require(cell_sizes.ndim() == 2 && seeds.ndim() == 2 && chances.ndim() == 3 && tables.ndim() == 4, "wrong dimensions");
  const std::size_t n = cell_sizes.shape(0), n_cells = cell_sizes.shape(1), n_tables = tables.shape(1);
  require(seeds.shape(0) == n && seeds.shape(1) >= 1 && chances.shape(0) == n && chances.shape(2) == n_cells &&
              chances.shape(1) >= 1 && tables.shape(0) == n && tables.shape(2) == n_cells && n_cells >= 1 &&
              tables.shape(3) == chances.shape(1) + 1,
          "seeds, cells, chances and tables do not fit");
  for (const Index size : span_of(cell_sizes)) require(size >= 0 && size < (Index{1} << 31), "cell size out of range");
  for (const double chance : span_of(chances)) require(chance >= 0 && chance <= 1, "chance out of range");
  const std::size_t of_seed = seeds.shape(1), of_chances = chances.shape(1) * n_cells;
  const std::size_t of_tables = n_tables * n_cells * tables.shape(3);
  WithoutGil without_gil;
  for (std::size_t i = 0; i < n; ++i) {
    interplay::draw_tables(span_of(seeds).subspan(i * of_seed, of_seed),
                           span_of(cell_sizes).subspan(i * n_cells, n_cells),
                           span_of(chances).subspan(i * of_chances, of_chances), static_cast<Index>(n_tables),
                           span_of(tables).subspan(i * of_tables, of_tables));
  }
}

}  // namespace

void define_proportional_fit(nb::module_& module) {
  module.def("fit_tables", &fit_tables, "counts"_a, "shape"_a, "tolerance"_a, "max_sweeps"_a, "simd_level"_a,
             "g2"_a.noconvert(), "is_complete"_a.noconvert(),
             "G² of tables of one shape under H0 of the interaction test, by proportional fitting.");
  module.def("draw_tables", &draw_tables, "seeds"_a, "cell_sizes"_a, "chances"_a, "tables"_a.noconvert(),
             "Tables with given cell sizes and chances of classes, as RandomState draws them.");
}

}  // namespace interplay::bindings
