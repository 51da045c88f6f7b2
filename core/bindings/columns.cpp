// columns of a table → ranks, bit planes
#include "arrays.hpp"
#include "interplay/bit_planes.hpp"
#include "interplay/few_values.hpp"
#include "interplay/rank_values.hpp"
#include "interplay/transposed.hpp"
#include "interplay/value_planes.hpp"
#include "without_gil.hpp"

using namespace nanobind::literals;

namespace interplay::bindings {
namespace {

void pack_bit_planes(Array<const std::uint8_t> codes, Array<const Index> sample_order, Array<const Index> class_sizes,
                     Array<const Index> class_word_start, Array<const Index> plane_start, Index first_row,
                     Index last_row, Array<Word> words) {
  require(codes.ndim() == 2 && words.ndim() == 2, "codes and words must be two-dimensional");
  const Index n_rows = static_cast<Index>(codes.shape(0));
  const Index n_samples = static_cast<Index>(codes.shape(1));
  require(plane_start.size() == static_cast<std::size_t>(n_rows) + 1 &&
              is_partition(span_of(plane_start), static_cast<Index>(words.shape(0))),
          "plane_start must cut the planes into rows");
  require(0 <= first_row && first_row <= last_row && last_row <= n_rows, "rows out of range");
  check_classes(span_of(class_sizes), span_of(class_word_start), static_cast<Index>(words.shape(1)));
  require(sum_of(span_of(class_sizes)) == static_cast<Index>(sample_order.size()), "classes must hold the samples");
  WithoutGil without_gil;
  for (const Index sample : span_of(sample_order)) require(0 <= sample && sample < n_samples, "sample out of range");
  for (Index row = first_row; row < last_row; ++row) {
    const Index n_planes = plane_start.data()[row + 1] - plane_start.data()[row];
    const int highest = highest_code(span_of(codes).subspan(row * n_samples, n_samples));
    require(highest <= n_planes, "a code exceeds its variable's number of levels");
  }
  interplay::pack_bit_planes(span_of(codes), span_of(sample_order), span_of(class_sizes), span_of(class_word_start),
                             span_of(plane_start), first_row, last_row, span_of(words));
}

template <class Item>
void transpose(nb::ndarray<const Item, nb::ndim<2>, nb::device::cpu> table, Array<Item> by_column) {
  require(by_column.ndim() == 2 && by_column.shape(0) == table.shape(1) && by_column.shape(1) == table.shape(0),
          "by_column must have a row for each column");
  require(table.stride(1) == 1, "the columns of the table must lie side by side");
  WithoutGil without_gil;
  interplay::transpose(table.data(), static_cast<Index>(table.shape(0)), static_cast<Index>(table.shape(1)),
                       table.stride(0), by_column.data());
}

// Cut values at thresholds, and set the bits of all rows.
template <class Value>
void pack_value_planes(Array<const Value> values, Array<const Value> thresholds, Array<const Index> sample_order,
                       Array<const Index> class_sizes, Array<const Index> class_word_start, Array<Word> words) {
  require(values.ndim() == 2 && thresholds.ndim() == 2 && words.ndim() == 2, "the arrays must be two-dimensional");
  const Index n_rows = static_cast<Index>(values.shape(0)), n_samples = static_cast<Index>(values.shape(1));
  const Index n_thresholds = static_cast<Index>(thresholds.shape(1)), n_words = static_cast<Index>(words.shape(1));
  require(static_cast<Index>(thresholds.shape(0)) == n_rows && n_thresholds >= 1 &&
              static_cast<Index>(words.shape(0)) == n_rows * n_thresholds,
          "each row of values needs thresholds, and each threshold a plane");
  const std::span<const Index> sizes = span_of(class_sizes);
  check_classes(sizes, span_of(class_word_start), n_words);
  require(static_cast<Index>(sample_order.size()) == n_samples && sum_of(sizes) == n_samples,
          "sample_order and the classes must hold every sample");
  const Index* sample = sample_order.data();
  for (const Index size : sizes) {
    for (Index i = 0; i < size; ++i, ++sample) {
      require(0 <= *sample && *sample < n_samples && (i == 0 || sample[-1] < *sample),
              "the samples of a class must be in ascending order");
    }
  }
  WithoutGil without_gil;
  ClassBits order(span_of(sample_order), sizes, span_of(class_word_start));
  interplay::pack_value_planes(values.data(), n_rows, n_samples, thresholds.data(), n_thresholds, order, n_words,
                               words.data());
}

template <class Value>
bool rank_values(Array<const Value> values, Array<const Index> ranks, Array<Value> found) {
  require(values.ndim() == 2 && ranks.ndim() == 2 && found.ndim() == 2, "the arrays must be two-dimensional");
  const Index n_rows = static_cast<Index>(values.shape(0)), n = static_cast<Index>(values.shape(1));
  const Index n_ranks = static_cast<Index>(ranks.shape(1));
  require(static_cast<Index>(ranks.shape(0)) == n_rows && static_cast<Index>(found.shape(0)) == n_rows &&
              static_cast<Index>(found.shape(1)) == n_ranks,
          "ranks and found must have a row for each row of values");
  for (const Index rank : span_of(ranks)) require(0 <= rank && rank < n, "rank out of range");
  WithoutGil without_gil;
  RankValues<Value> of_row;
  for (Index row = 0; row < n_rows; ++row) {
    const Index first = row * n_ranks;
    if (!of_row(values.data() + row * n, n, ranks.data() + first, n_ranks, found.data() + first)) return false;
  }
  return true;
}

// found: OUT the distinct values of each row that has few, ascending; n_found: OUT how many, or more than fit, or −1 if
// a value is NaN
template <class Value>
void few_values(Array<const Value> values, Array<Value> found, Array<Index> n_found) {
  require(values.ndim() == 2 && found.ndim() == 2 && found.shape(0) == values.shape(0) &&
              n_found.size() == values.shape(0) && found.shape(1) == static_cast<std::size_t>(kFewValues),
          "found and n_found must have a row for each row of values");
  const Index n = static_cast<Index>(values.shape(1));
  WithoutGil without_gil;
  for (Index row = 0; row < static_cast<Index>(values.shape(0)); ++row) {
    n_found.data()[row] = find_few_values(values.data() + row * n, n, found.data() + row * kFewValues);
  }
}

// The functions that exist for each type of values.
template <class Value>
void define_column_functions(nb::module_& module) {
  module.def("rank_values", &rank_values<Value>, "values"_a, "ranks"_a, "found"_a,
             "Find the values at some ranks of each row; false if a value is NaN.");
  module.def("few_values", &few_values<Value>, "values"_a, "found"_a, "n_found"_a,
             "Find the distinct values of each row that has few; -1 if a value is NaN.");
  module.def("pack_value_planes", &pack_value_planes<Value>, "values"_a, "thresholds"_a, "sample_order"_a,
             "class_sizes"_a, "class_word_start"_a, "words"_a,
             "Cut each row of values at its thresholds and set the bits of the levels; `words` must be zero.");
}

}  // namespace

void define_columns(nb::module_& module) {
  module.def("pack_bit_planes", &pack_bit_planes, "codes"_a, "sample_order"_a, "class_sizes"_a, "class_word_start"_a,
             "plane_start"_a, "first_row"_a, "last_row"_a, "words"_a,
             "Set the bits of some rows; `words` must be zero there.");
  module.def("transpose", &transpose<std::uint8_t>, "table"_a, "by_column"_a,
             "Write each column of a table to a row; for items of 1, 2 or 4 bytes.");
  module.def("transpose", &transpose<std::uint16_t>, "table"_a, "by_column"_a);
  module.def("transpose", &transpose<std::uint32_t>, "table"_a, "by_column"_a);
  define_column_functions<double>(module);
  define_column_functions<float>(module);
  define_column_functions<std::int8_t>(module);
  define_column_functions<std::uint8_t>(module);
  define_column_functions<std::int16_t>(module);
  define_column_functions<std::int32_t>(module);
  define_column_functions<std::int64_t>(module);
}

}  // namespace interplay::bindings
