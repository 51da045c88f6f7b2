#include "rows/level_data.hpp"

#include <algorithm>

#include "bounds/lane_model.hpp"

namespace interplay {
namespace {

// So that a row has room for 16 lanes.
constexpr Index kMaxLevels = 17;
// Cells of a tuple, of all classes: their counts should stay in cache.
constexpr Index kMaxCells = 4096;

}  // namespace

bool LevelData::applies_to(const SearchProblem& problem) {
  const BitPlanes& planes = problem.planes;
  const Index k = problem.tiles.dimensions;
  // Without pseudocounts an empty cell would make the bound divide by zero.
  if (k < 2 || k > kMaxFastDimensions || problem.pseudocount < 1e-6) return false;
  return planes.n_classes() <= kMaxLevelClasses &&
         *std::max_element(planes.class_sizes.begin(), planes.class_sizes.end()) <= kMaxFastClassSize;
}

LevelData::LevelData(const SearchProblem& problem, const LaneKernels& kernels)
    : LaneRows(problem, kernels, kMaxLevels), problem_(problem) {
  make_model();
}

bool LevelData::applies_to(const std::int32_t* tile) const {
  Index n_counts = problem_.planes.n_classes();
  for (Index m = 0; m < problem_.tiles.dimensions; ++m) {
    const Index n_levels = problem_.planes.n_levels[problem_.blocks.order[problem_.block_begin(tile, m)]];
    n_counts *= n_levels;
    if (n_levels > kMaxLevels || n_counts > kMaxCells) return false;
  }
  return true;
}

void LevelData::make_model() {
  const std::span<const Index> sizes = problem_.planes.class_sizes;
  double n = 0;
  for (const Index size : sizes) n += static_cast<double>(size);
  const double beta = problem_.pseudocount / static_cast<double>(*std::min_element(sizes.begin(), sizes.end()));
  model_.n_classes = static_cast<int>(sizes.size());
  model_.pseudo = static_cast<float>(beta * n);
  // Sums are rounded in proportion to all that is counted, pseudocounts included.
  const double most_cells = static_cast<double>(kMaxCells / model_.n_classes);
  model_.slack = static_cast<float>(0.01 + 1e-5 * n * (1 + most_cells * beta));
  for (std::size_t q = 0; q < sizes.size(); ++q) {
    const double share = static_cast<double>(sizes[q]) / n;
    model_.share[q] = static_cast<float>(share);
    model_.share_3[q] = static_cast<float>(3 * share);
  }
  if (sizes.size() == 2) model_.two_classes = make_lane_model(sizes, problem_.pseudocount, most_cells);
}

}  // namespace interplay
