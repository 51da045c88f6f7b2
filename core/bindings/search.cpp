// planes + tiles → maximum gains, or rows of tuples; tiles → their searchers and costs
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "interplay/count_tables.hpp"
#include "interplay/tuple_search.hpp"
#include "search_data.hpp"
#include "without_gil.hpp"

using namespace nanobind::literals;

namespace interplay::bindings {
namespace {

// Ctrl-C, or an error in the progress display, stops the threads first and is raised when they have handed in their
// results; so does the end of the interpreter.
class Ticker {
 public:
  explicit Ticker(const nb::object& on_tick) : on_tick_(on_tick) {}

  bool operator()(std::uint64_t done) {
    if (WithoutGil::must_end()) return false;
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
    WithoutGil::raise_if_ending();
  }

 private:
  const nb::object& on_tick_;
  bool raised_ = false;
};

// How to search; results never depend on it.
struct Job {
  Job(int threads, const std::string& instruction_set, bool direct)
      : n_threads(threads), level(simd_level_from_name(instruction_set)), direct_only(direct) {}

  SearchOptions options(Ticker& tick) const { return {n_threads, level, std::ref(tick), direct_only}; }

  int n_threads;
  SimdLevel level;
  bool direct_only;
};

std::pair<int, int> search_max_gains(const Planes& planes, const Tiles& tiles, const Job& job, double pseudocount,
                                     Index discretization, Array<double> gain, Array<Index> gain_discretization,
                                     Array<Index> gain_tuples, Array<std::uint8_t> searched_by, nb::object on_tick) {
  const SearchProblem problem = tiles.over(planes, pseudocount, discretization);
  const Index k = problem.tiles.dimensions;
  const std::size_t n_slots = static_cast<std::size_t>(problem.planes.n_rows()) * problem.partner_cells.size();
  require(gain.size() == n_slots && gain_discretization.size() == n_slots &&
              gain_tuples.size() == n_slots * static_cast<std::size_t>(k),
          "the result arrays have the wrong size");
  require(searched_by.size() == static_cast<std::size_t>(problem.tiles.size()), "searched_by needs an entry per tile");
  MaxGains best{span_of(gain), span_of(gain_discretization), span_of(gain_tuples), k};
  Ticker tick(on_tick);
  SearchReport report;
  SearchOptions options = job.options(tick);
  options.report = &report;
  {
    WithoutGil without_gil;
    search_max_gains(problem, options, best, span_of(searched_by));
  }
  tick.raise_if_asked();
  return {report.polynomial_threads, report.rational_threads};
}

// A numpy array that owns its data.
template <class T>
nb::object as_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}

// The rows of the tiles done, in the order of the tiles; rows after the first tile that was not done are left out.
nb::tuple rows_in_order(TupleRowsByTile& found, std::span<const std::uint8_t> searched_by, Index k) {
  std::vector<std::int32_t> tuples, variables;
  std::vector<double> values;
  std::vector<Index> rows_of_tile;
  tuples.reserve(static_cast<std::size_t>(found.n_rows() * k));
  variables.reserve(static_cast<std::size_t>(found.n_rows()));
  values.reserve(static_cast<std::size_t>(found.n_rows()));
  for (Index tile = 0; tile < static_cast<Index>(searched_by.size()) && searched_by[tile]; ++tile) {
    const TupleRows rows = std::exchange(found.of_tile(tile), TupleRows(k));
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

nb::tuple list_tuples(const Planes& planes, const Tiles& tiles, const Job& job, double pseudocount,
                      Array<const double> min_value, Array<const Index> coefficient_of_size, bool with_decision,
                      Index max_rows, nb::object on_tick) {
  SearchProblem problem = tiles.over(planes, pseudocount, 0);
  const Index k = problem.tiles.dimensions;
  require(problem.planes.n_rows() <= std::numeric_limits<std::int32_t>::max(), "too many variables");
  require(min_value.size() == static_cast<std::size_t>(problem.planes.n_rows()) * problem.partner_cells.size(),
          "min_value needs one entry per variable and group");
  require(coefficient_of_size.size() == 0 || coefficient_of_size.size() == static_cast<std::size_t>(k) + 1,
          "coefficient_of_size needs one entry per size of a subset, or none");
  require(!problem.planes.of_numbers || coefficient_of_size.size() == 0, "a number outcome has gains alone");
  require(with_decision || problem.planes.n_classes() == 1, "without a decision there must be one class");
  require(max_rows >= 1, "max_rows must be at least 1");
  const StatisticFormula formula{span_of(coefficient_of_size), with_decision};
  if (coefficient_of_size.size()) problem.statistic = &formula;
  TupleRowsByTile found(problem.tiles.size(), k, max_rows);
  std::vector<std::uint8_t> searched_by(static_cast<std::size_t>(problem.tiles.size()));
  Ticker tick(on_tick);
  {
    WithoutGil without_gil;
    interplay::list_tuples(problem, job.options(tick), span_of(min_value), found, searched_by);
  }
  tick.raise_if_asked();
  return rows_in_order(found, searched_by, k);
}

// Not so where a number is none.
bool ascends(std::span<const double> values) {
  const auto falls = [](double a, double b) { return !(a <= b); };
  return !std::isnan(values.front()) && std::ranges::adjacent_find(values, falls) == values.end();
}

nb::tuple screen_tuples(const Planes& planes, const Tiles& tiles, const Job& job, double pseudocount,
                        Array<const double> min_gain, bool has_stratum, Index max_rows, Array<std::uint8_t> searched_by,
                        nb::object on_tick) {
  SearchProblem problem = tiles.over(planes, pseudocount, 0);
  const Index k = problem.tiles.dimensions;
  require(problem.planes.n_rows() <= std::numeric_limits<std::int32_t>::max(), "too many variables");
  require(problem.planes.n_rows() == problem.planes.n_vars, "contrast variables are not screened");
  require(k >= 2 + has_stratum, "tuples must have at least two members beside the stratum");
  require(min_gain.size() >= 2 && ascends(span_of(min_gain).subspan(1)),
          "min_gain needs an ascending entry for each number of degrees of freedom from 0 to 1 at least");
  require(searched_by.size() == static_cast<std::size_t>(problem.tiles.size()), "searched_by needs an entry per tile");
  require(max_rows >= 1, "max_rows must be at least 1");
  const EveryMember rule{span_of(min_gain), has_stratum};
  problem.every_member = &rule;
  TupleRowsByTile found(problem.tiles.size(), k, max_rows);
  Ticker tick(on_tick);
  {
    WithoutGil without_gil;
    interplay::screen_tuples(problem, job.options(tick), found, span_of(searched_by));
  }
  tick.raise_if_asked();
  return rows_in_order(found, span_of(searched_by), k);
}

nb::object count_tables(const Planes& planes, Array<const Index> tuples, const std::string& instruction_set) {
  const BitPlanes view = planes.view();
  require(tuples.ndim() == 2 && tuples.shape(1) >= 1, "tuples must have a row for each, of its members");
  const std::span<const Index> rows = span_of(tuples);
  const Index k = static_cast<Index>(tuples.shape(1));
  Index n_numbers = view.cell_size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    require(0 <= rows[i] && rows[i] < view.n_rows(), "tuples: row out of range");
    const Index first = rows[i % static_cast<std::size_t>(k)];
    require(view.n_levels[rows[i]] == view.n_levels[first], "tuples must have members of the same numbers of levels");
    if (static_cast<Index>(i) < k) n_numbers *= view.n_levels[first];
  }
  std::vector<Index> counts(static_cast<std::size_t>(n_numbers) * tuples.shape(0));
  const SimdLevel level = simd_level_from_name(instruction_set);
  {
    WithoutGil without_gil;
    interplay::count_tables(view, rows, k, level, counts);
  }
  return as_numpy(std::move(counts), {tuples.shape(0), static_cast<std::size_t>(n_numbers)});
}

std::span<const Index> checked(const Array<const Index>& class_sizes) {
  require(class_sizes.size() >= 1, "there must be a class");
  return span_of(class_sizes);
}

// The routing of each tile, from shapes alone.
template <class T, class Ask>
nb::object of_each_tile(const Tiles& tiles, const Array<const Index>& class_sizes, bool of_numbers, double pseudocount,
                        Ask ask) {
  const SearchProblem problem = tiles.without_words(checked(class_sizes), of_numbers, pseudocount);
  const Routing routing(problem);
  std::vector<T> answers;
  answers.reserve(static_cast<std::size_t>(problem.tiles.size()));
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) answers.push_back(ask(routing, problem.tiles[tile]));
  return as_numpy(std::move(answers), {static_cast<std::size_t>(problem.tiles.size())});
}

nb::object tile_costs(const Tiles& tiles, Array<const Index> class_sizes, double pseudocount, bool of_numbers) {
  return of_each_tile<double>(tiles, class_sizes, of_numbers, pseudocount,
                              [](const Routing& routing, const std::int32_t* tile) { return routing.cost_of(tile); });
}

std::pair<bool, double> tiles_too_large(const Tiles& tiles, Array<const Index> class_sizes, double pseudocount,
                                        bool of_numbers) {
  const SearchProblem problem = tiles.without_words(checked(class_sizes), of_numbers, pseudocount);
  const Routing routing(problem);
  bool wants_smaller = false;
  double longest = 0;
  for (Index tile = 0; tile < problem.tiles.size(); ++tile) {
    wants_smaller = wants_smaller || routing.wants_smaller_blocks(problem.tiles[tile]);
    longest = std::max(longest, routing.cost_of(problem.tiles[tile]));
  }
  return {wants_smaller, longest};
}

nb::object tile_searchers(const Tiles& tiles, Array<const Index> class_sizes, double pseudocount, bool of_numbers) {
  return of_each_tile<std::uint8_t>(tiles, class_sizes, of_numbers, pseudocount,
                                    [](const Routing& routing, const std::int32_t* tile) {
                                      return static_cast<std::uint8_t>(routing.searcher_of(tile));
                                    });
}

}  // namespace

void define_search(nb::module_& module) {
  nb::class_<Job>(module, "Job", "How to search; results never depend on it.")
      .def(nb::init<int, const std::string&, bool>(), "n_threads"_a, "simd_level"_a, "direct_only"_a);
  module.def("search_max_gains", &search_max_gains, "planes"_a, "tiles"_a, "job"_a, nb::kw_only(), "pseudocount"_a,
             "discretization"_a, "gain"_a.noconvert(), "gain_discretization"_a.noconvert(), "gain_tuples"_a.noconvert(),
             "searched_by"_a.noconvert(), "on_tick"_a.none(),
             "Search the tiles; the results are merged into the gain arrays, and searched_by gets the number of each "
             "tile's searcher. Returns how many threads found the polynomial and how many the rational bound cheaper.");
  module.def("list_tuples", &list_tuples, "planes"_a, "tiles"_a, "job"_a, nb::kw_only(), "pseudocount"_a, "min_value"_a,
             "coefficient_of_size"_a, "with_decision"_a, "max_rows"_a, "on_tick"_a.none(),
             "List what exceeds a threshold: tuples, variables, values, and rows of each tile done.");
  module.def("screen_tuples", &screen_tuples, "planes"_a, "tiles"_a, "job"_a, nb::kw_only(), "pseudocount"_a,
             "min_gain"_a, "has_stratum"_a, "max_rows"_a, "searched_by"_a.noconvert(), "on_tick"_a.none(),
             "List tuples of which every member gains enough for their degrees of freedom, once each: tuples, the "
             "variables that gain least, their gains, and rows of each tile done.");
  module.def("count_tables", &count_tables, "planes"_a, "tuples"_a, "simd_level"_a,
             "Samples per cell and class of tuples of one shape: a row for each, the first member varying slowest.");
  module.def("tile_searchers", &tile_searchers, "tiles"_a, "class_sizes"_a, "pseudocount"_a, "of_numbers"_a,
             "The number of the searcher that takes each tile: its place in SEARCHERS.");
  module.def(
      "tiles_too_large", &tiles_too_large, "tiles"_a, "class_sizes"_a, "pseudocount"_a, "of_numbers"_a,
      "Whether a tile is searched without lanes only because its blocks are too large, and about the nanoseconds "
      "that the longest tile takes a thread.");
  module.def("tile_costs", &tile_costs, "tiles"_a, "class_sizes"_a, "pseudocount"_a, "of_numbers"_a,
             "About the nanoseconds that each tile takes a thread.");
  module.def("max_block_size", &max_block_size, "dimensions"_a,
             "Variables of a block beyond which the tables over a tile's blocks would not fit.");
  module.attr("LANES") = lanes_of_register();
  module.attr("TRIPLE_BLOCK") = triple_block_size();
  nb::list names;
  names.append(name_of(Searcher::none));
  for (const Searcher searcher : kSearchers) names.append(name_of(searcher));
  module.attr("SEARCHERS") = nb::tuple(names);
}

}  // namespace interplay::bindings
