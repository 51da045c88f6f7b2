#include "rows/level_data.hpp"

#include <algorithm>
#include <utility>

#include "information/lane_model.hpp"
#include "information/small_cells.hpp"

namespace interplay {

LevelData::LevelData(const SearchProblem& problem, const LaneKernels& kernels, SampleRowLayout layout)
    : LaneRows(problem, kernels, kMaxLevels, std::move(layout)), problem_(problem) {
  make_model();
}

void LevelData::make_model() {
  if (problem_.planes.of_numbers) {
    make_sum_model();
    return;
  }
  const std::span<const Index> sizes = problem_.planes.class_sizes;
  double n = 0;
  for (const Index size : sizes) n += static_cast<double>(size);
  const double beta = problem_.pseudocount / static_cast<double>(*std::min_element(sizes.begin(), sizes.end()));
  model_.n_classes = static_cast<int>(sizes.size());
  model_.pseudo = static_cast<float>(beta * n);
  // Sums are rounded in proportion to all that is counted, pseudocounts included.
  const double most_cells = static_cast<double>(kMaxCells / model_.n_classes);
  model_.slack = static_cast<float>(0.01 + 1e-5 * n * (1 + most_cells * beta));
  model_.wide_slack = static_cast<float>(0.01 + 1e-8 * n * (1 + most_cells * beta));
  for (std::size_t q = 0; q < sizes.size(); ++q) {
    const double share = static_cast<double>(sizes[q]) / n;
    model_.share[q] = static_cast<float>(share);
    model_.share_3[q] = static_cast<float>(3 * share);
  }
  if (sizes.size() == 2) {
    model_.two_classes = make_lane_model(sizes, problem_.pseudocount, most_cells);
    model_.small_cells = make_small_cell_tables(sizes, problem_.pseudocount);
  }
}

void LevelData::make_sum_model() {
  const std::size_t n_samples = static_cast<std::size_t>(problem_.planes.class_sizes[0]);
  const double n = static_cast<double>(n_samples);
  double squares = 0;
  for (const std::int32_t t : problem_.planes.scores.first(n_samples)) squares += static_cast<double>(t) * t;
  const double added = problem_.pseudocount / n;
  model_.n_classes = 2;
  model_.sums.per_square = static_cast<float>(1 / (squares * (1 + added)));
  model_.sums.half_samples = static_cast<float>(n / 2);
  model_.sums.least_rest = static_cast<float>(std::max(0.5 * added / (1 + added), 1e-30));
  model_.sums.slack = static_cast<float>(1e-3 + 1e-6 * n / 2);
}

}  // namespace interplay
