// interplay._core: the compiled functions, as numpy sees them. Shapes are checked by the Python side; what could
// corrupt memory is checked again here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "interplay/bit_planes.hpp"
#include "interplay/information_gain.hpp"
#include "interplay/rank_values.hpp"
#include "interplay/simd_level.hpp"
#include "interplay/transposed.hpp"
#include "interplay/tuple_search.hpp"
#include "interplay/tuple_statistic.hpp"
#include "interplay/value_planes.hpp"
#include "without_gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using interplay::Index;
using interplay::Word;

template <class T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> span_of(const Array<T>& array) {
  return {array.data(), array.size()};
}

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// Ascending from 0 to `end`: the shape of every *_start array.
bool is_partition(std::span<const Index> start, Index end) {
  if (start.empty() || start.front() != 0 || start.back() != end) return false;
  for (std::size_t i = 1; i < start.size(); ++i) {
    if (start[i] < start[i - 1]) return false;
  }
  return true;
}

// Classes cut the words into whole blocks, each with room for its samples.
void check_classes(std::span<const Index> class_sizes, std::span<const Index> class_word_start, Index n_words) {
  require(!class_sizes.empty() && class_word_start.size() == class_sizes.size() + 1 &&
              is_partition(class_word_start, n_words),
          "class_word_start must cut the words into classes");
  for (std::size_t q = 0; q < class_sizes.size(); ++q) {
    const Index room = class_word_start[q + 1] - class_word_start[q];
    require(room % interplay::kWordsPerBlock == 0 && class_sizes[q] > 0 && class_sizes[q] <= room * 64,
            "each class must fill whole blocks of words");
  }
}

void pack_bit_planes(Array<const std::uint8_t> codes, Array<const Index> sample_order, Array<const Index> class_sizes,
                     Array<const Index> class_word_start, Array<const Index> plane_start, Index first_row,
                     Index last_row, Array<Word> words) {
  require(codes.ndim() == 2 && words.ndim() == 2, "codes and words must be two-dimensional");
  const Index n_rows = static_cast<Index>(codes.shape(0));
  const Index n_samples = static_cast<Index>(codes.shape(1));
  require(static_cast<Index>(sample_order.size()) == n_samples, "sample_order must name every sample");
  require(plane_start.size() == static_cast<std::size_t>(n_rows) + 1 &&
              is_partition(span_of(plane_start), static_cast<Index>(words.shape(0))),
          "plane_start must cut the planes into rows");
  require(0 <= first_row && first_row <= last_row && last_row <= n_rows, "rows out of range");
  check_classes(span_of(class_sizes), span_of(class_word_start), static_cast<Index>(words.shape(1)));
  require(std::accumulate(class_sizes.data(), class_sizes.data() + class_sizes.size(), Index{0}) == n_samples,
          "the classes must hold every sample");
  interplay::WithoutGil without_gil;
  for (const Index sample : span_of(sample_order)) require(0 <= sample && sample < n_samples, "sample out of range");
  for (Index row = first_row; row < last_row; ++row) {
    const Index n_planes = plane_start.data()[row + 1] - plane_start.data()[row];
    const int highest = interplay::highest_code(span_of(codes).subspan(row * n_samples, n_samples));
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
  interplay::WithoutGil without_gil;
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
  require(static_cast<Index>(sample_order.size()) == n_samples &&
              std::accumulate(sizes.begin(), sizes.end(), Index{0}) == n_samples,
          "sample_order and the classes must hold every sample");
  const Index* sample = sample_order.data();
  for (const Index size : sizes) {
    for (Index i = 0; i < size; ++i, ++sample) {
      require(0 <= *sample && *sample < n_samples && (i == 0 || sample[-1] < *sample),
              "the samples of a class must be in ascending order");
    }
  }
  interplay::WithoutGil without_gil;
  interplay::ClassBits order(span_of(sample_order), sizes, span_of(class_word_start));
  interplay::pack_value_planes(values.data(), n_rows, n_samples, thresholds.data(), n_thresholds, order, n_words,
                               words.data());
}

void check_planes(const interplay::BitPlanes& planes, Index n_planes) {
  require(is_partition(planes.plane_start, n_planes) && planes.plane_start.size() == planes.n_levels.size() + 1,
          "plane_start must cut the planes into rows");
  for (Index row = 0; row < planes.n_rows(); ++row) {
    require(
        planes.n_levels[row] >= 2 && planes.plane_start[row + 1] - planes.plane_start[row] == planes.n_levels[row] - 1,
        "each variable needs one plane fewer than levels, and at least two levels");
  }
  check_classes(planes.class_sizes, planes.class_word_start, planes.n_words);
  require(0 <= planes.n_vars && planes.n_vars <= planes.n_rows(), "n_vars out of range");
}

void check_blocks(const interplay::SearchProblem& problem) {
  const interplay::VariableBlocks& blocks = problem.blocks;
  const Index n_ordered = static_cast<Index>(blocks.order.size());
  for (const Index row : blocks.order) require(0 <= row && row < problem.planes.n_rows(), "order: row out of range");
  for (const auto& start : {blocks.block_start, blocks.middle_start, blocks.lane_start}) {
    require(is_partition(start, n_ordered), "the starts of blocks must cut the order");
    for (std::size_t b = 1; b < start.size(); ++b) require(start[b - 1] < start[b], "blocks must not be empty");
  }
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    const Index first = blocks.order[blocks.lane_start[b]];
    for (Index i = blocks.lane_start[b]; i < blocks.lane_start[b + 1]; ++i) {
      const Index row = blocks.order[i];
      require(problem.planes.n_levels[row] == problem.planes.n_levels[first],
              "the variables of a lane block must have the same number of levels");
      require((row < problem.planes.n_vars) == (first < problem.planes.n_vars),
              "a lane block must not mix real and contrast variables");
    }
  }
  require(std::includes(blocks.middle_start.begin(), blocks.middle_start.end(), blocks.lane_start.begin(),
                        blocks.lane_start.end()) &&
              std::includes(blocks.block_start.begin(), blocks.block_start.end(), blocks.middle_start.begin(),
                            blocks.middle_start.end()),
          "blocks must not straddle larger blocks");
  const Index k = problem.tiles.dimensions;
  for (Index t = 0; t < problem.tiles.size(); ++t) {
    for (Index m = 0; m < k; ++m) {
      const Index n_blocks = static_cast<Index>(blocks.starts(m, k).size()) - 1;
      require(0 <= problem.tiles[t][m] && problem.tiles[t][m] < n_blocks, "tiles: block out of range");
    }
  }
}

// The data and the tiles of a search, as both searches take them, checked.
interplay::SearchProblem search_problem(const Array<const Word>& words, const Array<const Index>& plane_start,
                                        const Array<const Index>& n_levels, const Array<const Index>& class_word_start,
                                        const Array<const Index>& class_sizes, Index n_vars,
                                        const Array<const Index>& order, const Array<const Index>& block_start,
                                        const Array<const Index>& middle_start, const Array<const Index>& lane_start,
                                        const Array<const std::int32_t>& tiles, const Array<const Index>& partner_cells,
                                        double pseudocount, Index discretization) {
  require(words.ndim() == 2 && tiles.ndim() == 2, "words and tiles must be two-dimensional");
  interplay::SearchProblem problem{{span_of(words), static_cast<Index>(words.shape(1)), span_of(plane_start),
                                    span_of(n_levels), span_of(class_word_start), span_of(class_sizes), n_vars},
                                   {span_of(order), span_of(block_start), span_of(middle_start), span_of(lane_start)},
                                   {span_of(tiles), static_cast<Index>(tiles.shape(1))},
                                   span_of(partner_cells),
                                   pseudocount,
                                   discretization};
  const Index k = problem.tiles.dimensions;
  require(k >= 1 && k <= 64, "tuples must have 1 to 64 members");
  require(pseudocount >= 0, "pseudocount must not be negative");
  require(partner_cells.size() >= 1, "partner_cells must not be empty");
  check_planes(problem.planes, static_cast<Index>(words.shape(0)));
  check_blocks(problem);
  return problem;
}

// Ctrl-C, or an error in the progress display, stops the threads first and is raised when they have handed in what they
// found; so does the end of the interpreter.
class Ticker {
 public:
  explicit Ticker(const nb::object& on_tick) : on_tick_(on_tick) {}

  bool operator()(std::uint64_t done) {
    if (interplay::WithoutGil::must_end()) return false;
    nb::gil_scoped_acquire acquire;
    if (raised_) return false;
    raised_ = PyErr_CheckSignals() != 0;
    if (!raised_ && !on_tick_.is_none()) {
      PyObject* result = PyObject_CallFunction(on_tick_.ptr(), "K", static_cast<unsigned long long>(done));
      raised_ = result == nullptr;
      Py_XDECREF(result);
    }
    return !raised_;
  }
  void raise_if_asked() const {
    if (raised_) throw nb::python_error();
    interplay::WithoutGil::raise_if_ending();
  }

 private:
  const nb::object& on_tick_;
  bool raised_ = false;
};

std::pair<int, int> search_max_gains(Array<const Word> words, Array<const Index> plane_start,
                                     Array<const Index> n_levels, Array<const Index> class_word_start,
                                     Array<const Index> class_sizes, Index n_vars, Array<const Index> order,
                                     Array<const Index> block_start, Array<const Index> middle_start,
                                     Array<const Index> lane_start, Array<const std::int32_t> tiles,
                                     Array<const Index> partner_cells, double pseudocount, Index discretization,
                                     int n_threads, const std::string& simd_level, bool direct_only, Array<double> gain,
                                     Array<Index> gain_discretization, Array<Index> gain_tuples,
                                     Array<std::uint8_t> tile_done, nb::object on_tick) {
  const interplay::SearchProblem problem =
      search_problem(words, plane_start, n_levels, class_word_start, class_sizes, n_vars, order, block_start,
                     middle_start, lane_start, tiles, partner_cells, pseudocount, discretization);
  const Index k = problem.tiles.dimensions;
  const std::size_t n_slots = static_cast<std::size_t>(problem.planes.n_rows()) * partner_cells.size();
  require(gain.size() == n_slots && gain_discretization.size() == n_slots &&
              gain_tuples.size() == n_slots * static_cast<std::size_t>(k),
          "the result arrays have the wrong size");
  require(tile_done.size() == static_cast<std::size_t>(problem.tiles.size()), "tile_done needs one entry per tile");
  interplay::MaxGains best{span_of(gain), span_of(gain_discretization), span_of(gain_tuples), k};
  Ticker tick(on_tick);
  interplay::SearchReport report;
  interplay::SearchOptions options{n_threads, interplay::simd_level_from_name(simd_level), std::ref(tick), direct_only};
  options.report = &report;
  {
    interplay::WithoutGil without_gil;
    interplay::search_max_gains(problem, options, best, span_of(tile_done));
  }
  tick.raise_if_asked();
  return {report.polynomial_threads, report.rational_threads};
}

// A numpy array that owns what it shows.
template <class T>
nb::object as_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}

// The rows of the tiles done, in the order of the tiles; those after the first tile that was not done are left out.
nb::tuple rows_in_order(interplay::TupleRowsByTile& found, std::span<const std::uint8_t> tile_done, Index k) {
  std::vector<std::int32_t> tuples, variables;
  std::vector<double> values;
  std::vector<Index> rows_of_tile;
  tuples.reserve(static_cast<std::size_t>(found.n_rows() * k));
  variables.reserve(static_cast<std::size_t>(found.n_rows()));
  values.reserve(static_cast<std::size_t>(found.n_rows()));
  for (Index tile = 0; tile < static_cast<Index>(tile_done.size()) && tile_done[tile]; ++tile) {
    const interplay::TupleRows rows = std::exchange(found.of_tile(tile), interplay::TupleRows(k));
    for (Index row = 0; row < rows.size(); ++row) {
      tuples.insert(tuples.end(), rows.tuple(row), rows.tuple(row) + k);
      variables.push_back(rows.variable(row));
      values.push_back(rows.value(row));
    }
    rows_of_tile.push_back(rows.size());
  }
  const std::size_t n_rows = values.size(), n_tiles = rows_of_tile.size();
  return nb::make_tuple(as_numpy(std::move(tuples), {n_rows, static_cast<std::size_t>(k)}),
                        as_numpy(std::move(variables), {n_rows}), as_numpy(std::move(values), {n_rows}),
                        as_numpy(std::move(rows_of_tile), {n_tiles}));
}

nb::tuple list_tuples(Array<const Word> words, Array<const Index> plane_start, Array<const Index> n_levels,
                      Array<const Index> class_word_start, Array<const Index> class_sizes, Index n_vars,
                      Array<const Index> order, Array<const Index> block_start, Array<const Index> middle_start,
                      Array<const Index> lane_start, Array<const std::int32_t> tiles, Array<const Index> partner_cells,
                      double pseudocount, Array<double> min_value, Array<const Index> coefficient_of_size,
                      bool with_decision, Index max_rows, int n_threads, const std::string& simd_level,
                      bool direct_only, nb::object on_tick) {
  interplay::SearchProblem problem =
      search_problem(words, plane_start, n_levels, class_word_start, class_sizes, n_vars, order, block_start,
                     middle_start, lane_start, tiles, partner_cells, pseudocount, 0);
  const Index k = problem.tiles.dimensions;
  require(problem.planes.n_rows() <= std::numeric_limits<std::int32_t>::max(), "too many variables");
  require(min_value.size() == static_cast<std::size_t>(problem.planes.n_rows()) * partner_cells.size(),
          "min_value needs one entry per variable and group");
  require(coefficient_of_size.size() == 0 || coefficient_of_size.size() == static_cast<std::size_t>(k) + 1,
          "coefficient_of_size needs one entry per size of a subset, or none");
  require(with_decision || class_sizes.size() == 1, "without a decision there must be one class");
  require(max_rows >= 1, "max_rows must be at least 1");
  const interplay::StatisticFormula formula{span_of(coefficient_of_size), with_decision};
  if (coefficient_of_size.size()) problem.statistic = &formula;
  interplay::MaxGains thresholds{span_of(min_value), {}, {}, k};
  interplay::TupleRowsByTile found(problem.tiles.size(), k, max_rows);
  std::vector<std::uint8_t> tile_done(static_cast<std::size_t>(problem.tiles.size()));
  Ticker tick(on_tick);
  interplay::SearchOptions options{n_threads, interplay::simd_level_from_name(simd_level), std::ref(tick), direct_only,
                                   &found};
  {
    interplay::WithoutGil without_gil;
    interplay::search_max_gains(problem, options, thresholds, tile_done);
  }
  tick.raise_if_asked();
  return rows_in_order(found, tile_done, k);
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
  interplay::WithoutGil without_gil;
  interplay::RankValues<Value> of_row;
  for (Index row = 0; row < n_rows; ++row) {
    const Index first = row * n_ranks;
    if (!of_row(values.data() + row * n, n, ranks.data() + first, n_ranks, found.data() + first)) return false;
  }
  return true;
}

// What there is of functions for each type of values.
template <class Value>
void define_column_functions(nb::module_& module) {
  module.def("rank_values", &rank_values<Value>, "values"_a, "ranks"_a, "found"_a,
             "Find the values at some ranks of each row; false if a value is NaN.");
  module.def("pack_value_planes", &pack_value_planes<Value>, "values"_a, "thresholds"_a, "sample_order"_a,
             "class_sizes"_a, "class_word_start"_a, "words"_a,
             "Cut each row of values at its thresholds and set the bits of the levels; `words` must be zero.");
}

// Fills `values` with x·log2(x) in fixed point at 0 … n, for every class and then for all classes together; with the
// pseudocounts of as many cells as each multiplicity says. Returns the worth of a unit, which is that of gains, or,
// with coefficients, that of a statistic.
double fill_information_tables(Array<const Index> class_sizes, double pseudocount, Array<const Index> multiplicities,
                               Index max_cells, Array<const Index> coefficient_of_size,
                               Array<interplay::Fixed> values) {
  require(class_sizes.size() >= 1 && max_cells >= 1 && pseudocount >= 0, "classes, cells or pseudocount out of range");
  const std::span<const Index> sizes = span_of(class_sizes), coefficients = span_of(coefficient_of_size);
  const Index n_samples = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  const std::size_t of_one = static_cast<std::size_t>(2 * n_samples) + sizes.size() + 1;
  require(values.size() == of_one * multiplicities.size(), "values has the wrong size");
  const int fraction_bits = coefficients.empty()
                                ? interplay::choose_fraction_bits(sizes, pseudocount, max_cells)
                                : interplay::choose_fraction_bits(coefficients, sizes, pseudocount, max_cells);
  interplay::Fixed* next = values.data();
  const auto append = [&](const interplay::XLogX& x_log_x, Index n_max) {
    for (Index n = 0; n <= n_max; ++n) *next++ = x_log_x(static_cast<interplay::Count>(n));
  };
  for (const Index multiplicity : span_of(multiplicities)) {
    const interplay::CellInformation of_cell(sizes, pseudocount, multiplicity, n_samples + 1, fraction_bits);
    for (std::size_t q = 0; q < sizes.size(); ++q) append(of_cell.of_class(static_cast<Index>(q)), sizes[q]);
    append(of_cell.of_total(), n_samples);
  }
  return std::ldexp(1.0, -fraction_bits);
}

std::vector<std::string> simd_levels() {
  std::vector<std::string> names;
  for (const interplay::SimdLevel level : interplay::available_simd_levels()) names.emplace_back(name_of(level));
  return names;
}

}  // namespace

NB_MODULE(_core, module) {
  interplay::WithoutGil::watch_interpreter();
  module.doc() = "Counting and scoring of tuples; use it through interplay.engines.";
  module.def("simd_levels", &simd_levels, "Instruction sets that can run here, slowest first.");
  module.def("fill_information_tables", &fill_information_tables, "class_sizes"_a, "pseudocount"_a, "multiplicities"_a,
             "max_cells"_a, "coefficient_of_size"_a, "values"_a,
             "Tables of x·log2(x) in fixed point; returns the worth of their unit.");
  module.def("pack_bit_planes", &pack_bit_planes, "codes"_a, "sample_order"_a, "class_sizes"_a, "class_word_start"_a,
             "plane_start"_a, "first_row"_a, "last_row"_a, "words"_a,
             "Set the bits of some rows; `words` must be zero there.");
  module.def("transpose", &transpose<std::uint16_t>, "table"_a, "by_column"_a,
             "Write each column of a table to a row; for items of 2 or 4 bytes.");
  module.def("transpose", &transpose<std::uint32_t>, "table"_a, "by_column"_a);
  define_column_functions<double>(module);
  define_column_functions<float>(module);
  define_column_functions<std::int16_t>(module);
  define_column_functions<std::int32_t>(module);
  define_column_functions<std::int64_t>(module);
  module.def("search_max_gains", &search_max_gains, "words"_a, "plane_start"_a, "n_levels"_a, "class_word_start"_a,
             "class_sizes"_a, "n_vars"_a, "order"_a, "block_start"_a, "middle_start"_a, "lane_start"_a, "tiles"_a,
             "partner_cells"_a, "pseudocount"_a, "discretization"_a, "n_threads"_a, "simd_level"_a, "direct_only"_a,
             "gain"_a, "gain_discretization"_a, "gain_tuples"_a, "tile_done"_a, "on_tick"_a.none(),
             "Search the tiles; the results are merged into the gain arrays. Returns how many threads found the "
             "polynomial and how many the rational bound cheaper.");
  module.def("list_tuples", &list_tuples, "words"_a, "plane_start"_a, "n_levels"_a, "class_word_start"_a,
             "class_sizes"_a, "n_vars"_a, "order"_a, "block_start"_a, "middle_start"_a, "lane_start"_a, "tiles"_a,
             "partner_cells"_a, "pseudocount"_a, "min_value"_a, "coefficient_of_size"_a, "with_decision"_a,
             "max_rows"_a, "n_threads"_a, "simd_level"_a, "direct_only"_a, "on_tick"_a.none(),
             "List what exceeds a threshold: tuples, variables, values, and rows of each tile done.");
}
