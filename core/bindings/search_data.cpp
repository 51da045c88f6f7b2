#include "search_data.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "interplay/score_digits.hpp"

using namespace nanobind::literals;

namespace interplay::bindings {

Planes::Planes(Array<const Word> words, Array<const Index> plane_start, Array<const Index> n_levels,
               Array<const Index> class_word_start, Array<const Index> class_sizes, Index n_vars,
               Array<const std::int32_t> scores, Index radix)
    : words_(std::move(words)),
      plane_start_(std::move(plane_start)),
      n_levels_(std::move(n_levels)),
      class_word_start_(std::move(class_word_start)),
      class_sizes_(std::move(class_sizes)),
      scores_(std::move(scores)),
      radix_(radix),
      n_vars_(n_vars) {
  require(words_.ndim() == 2, "words must be two-dimensional");
  const BitPlanes planes = view();
  require(planes.plane_start.size() == planes.n_levels.size() + 1 &&
              is_partition(planes.plane_start, static_cast<Index>(words_.shape(0))),
          "plane_start must cut the planes into rows");
  for (Index row = 0; row < planes.n_rows(); ++row) {
    require(
        planes.n_levels[row] >= 2 && planes.plane_start[row + 1] - planes.plane_start[row] == planes.n_levels[row] - 1,
        "each variable needs one plane fewer than levels, and at least two levels");
  }
  check_classes(planes.class_sizes, planes.class_word_start, planes.n_words);
  require(0 <= n_vars && n_vars <= planes.n_rows(), "n_vars out of range");
  if (planes.of_numbers) check_scores(planes);
}

BitPlanes Planes::view() const {
  return {span_of(words_),
          static_cast<Index>(words_.shape(1)),
          span_of(plane_start_),
          span_of(n_levels_),
          span_of(class_word_start_),
          span_of(class_sizes_),
          n_vars_,
          scores_.size() > 0,
          span_of(scores_),
          radix_};
}

void Planes::check_scores(const BitPlanes& planes) {
  const std::size_t n = static_cast<std::size_t>(planes.class_sizes[0]);
  require(planes.scores.size() == n * planes.class_sizes.size(), "scores must have an entry per order and sample");
  require(planes.radix >= 2 && planes.radix <= 256, "radix out of range");
  for (const Index size : planes.class_sizes) {
    require(size == planes.class_sizes[0], "every order must have all samples");
  }
  const auto [lowest, highest] = std::ranges::minmax(planes.scores.first(n));
  const Index most = std::max(std::abs(Index{lowest}), std::abs(Index{highest}));
  require(most > 0 && most * static_cast<Index>(n) < Index{1} << 31, "scores out of range");
  Index range = 1;
  for (Index order = 0; order < planes.n_classes() && range < Index{1} << 32; ++order) range *= planes.radix;
  require(Index{highest} - lowest < range, "scores have more digits than there are orders");
  const ScoreDigits digits(planes);
  for (Index order = 0; order < planes.n_classes(); ++order) {
    Index before = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Index digit = digits.of(order, planes.scores[static_cast<std::size_t>(order) * n + i]);
      require(before <= digit && digit < planes.radix, "the samples of an order must be sorted by its digit");
      before = digit;
    }
  }
}

Tiles::Tiles(Array<const Index> n_levels, Index n_vars, Array<const Index> order, Array<const Index> block_start,
             Array<const Index> middle_start, Array<const Index> lane_start, Array<const std::int32_t> tiles,
             Array<const Index> partner_cells)
    : n_levels_(std::move(n_levels)),
      n_vars_(n_vars),
      order_(std::move(order)),
      block_start_(std::move(block_start)),
      middle_start_(std::move(middle_start)),
      lane_start_(std::move(lane_start)),
      tiles_(std::move(tiles)),
      partner_cells_(std::move(partner_cells)) {
  require(tiles_.ndim() == 2, "tiles must be two-dimensional");
  require(dimensions() >= 1 && dimensions() <= 64, "tuples must have 1 to 64 members");
  require(partner_cells_.size() >= 1, "partner_cells must not be empty");
  check();
}

SearchProblem Tiles::without_words(std::span<const Index> class_sizes, bool of_numbers, double pseudocount) const {
  require(pseudocount >= 0, "pseudocount must not be negative");
  return {{{}, 0, {}, span_of(n_levels_), {}, class_sizes, n_vars_, of_numbers},
          {span_of(order_), span_of(block_start_), span_of(middle_start_), span_of(lane_start_)},
          {span_of(tiles_), dimensions()},
          span_of(partner_cells_),
          pseudocount,
          0};
}

SearchProblem Tiles::over(const Planes& planes, double pseudocount, Index discretization) const {
  const BitPlanes view = planes.view();
  SearchProblem problem = without_words(view.class_sizes, view.of_numbers, pseudocount);
  require(view.n_vars == n_vars_ && std::ranges::equal(view.n_levels, problem.planes.n_levels),
          "the tiles must be of the variables of the planes");
  problem.planes = view;
  problem.discretization = discretization;
  return problem;
}

void Tiles::check() const {
  const Index one_class[] = {1};
  const SearchProblem problem = without_words(one_class, false, 0);
  const BitPlanes& rows = problem.planes;
  const VariableBlocks& blocks = problem.blocks;
  const Index n_ordered = static_cast<Index>(blocks.order.size()), k = dimensions();
  for (const Index n_levels : rows.n_levels) require(n_levels >= 2, "each variable needs at least two levels");
  for (const Index row : blocks.order) require(0 <= row && row < rows.n_rows(), "order: row out of range");
  for (const auto& start : {blocks.block_start, blocks.middle_start, blocks.lane_start}) {
    require(is_partition(start, n_ordered), "the starts of blocks must cut the order");
    for (std::size_t b = 1; b < start.size(); ++b) require(start[b - 1] < start[b], "blocks must not be empty");
  }
  for (Index b = 0; b < blocks.n_lane_blocks(); ++b) {
    const Index first = blocks.order[blocks.lane_start[b]];
    for (Index i = blocks.lane_start[b]; i < blocks.lane_start[b + 1]; ++i) {
      const Index row = blocks.order[i];
      require(rows.n_levels[row] == rows.n_levels[first],
              "the variables of a lane block must have the same number of levels");
      require((row < rows.n_vars) == (first < rows.n_vars), "a lane block must not mix real and contrast variables");
    }
  }
  require(std::ranges::includes(blocks.middle_start, blocks.lane_start) &&
              std::ranges::includes(blocks.block_start, blocks.middle_start),
          "blocks must not straddle larger blocks");
  for (Index m = 0; m < k; ++m) {
    const Index n_blocks = static_cast<Index>(blocks.starts(m, k).size()) - 1;
    for (Index t = 0; t < problem.tiles.size(); ++t) {
      require(0 <= problem.tiles[t][m] && problem.tiles[t][m] < n_blocks, "tiles: block out of range");
    }
  }
}

void define_search_data(nb::module_& module) {
  nb::class_<Planes>(module, "Planes", "Bit planes of variables, see BitPlanes in arrays.py.")
      .def(nb::init<Array<const Word>, Array<const Index>, Array<const Index>, Array<const Index>, Array<const Index>,
                    Index, Array<const std::int32_t>, Index>(),
           "words"_a, "plane_start"_a, "n_levels"_a, "class_word_start"_a, "class_sizes"_a, "n_vars"_a, "scores"_a,
           "radix"_a);
  nb::class_<Tiles>(module, "Tiles", "Tiles of tuples, see TupleTiles in arrays.py.")
      .def(nb::init<Array<const Index>, Index, Array<const Index>, Array<const Index>, Array<const Index>,
                    Array<const Index>, Array<const std::int32_t>, Array<const Index>>(),
           "n_levels"_a, "n_vars"_a, "order"_a, "block_start"_a, "middle_start"_a, "lane_start"_a, "tiles"_a,
           "partner_cells"_a);
}

}  // namespace interplay::bindings
