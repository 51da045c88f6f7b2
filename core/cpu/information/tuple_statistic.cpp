#include "interplay/tuple_statistic.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace interplay {
namespace {

// Entries of a table of x·log2(x), and tables kept at a time: data with many different numbers of levels would
// otherwise fill the memory.
constexpr Index kMaxEntries = Index{1} << 16;
constexpr std::size_t kMaxTables = 256;

// Bits that the sum over all subsets needs beyond those of one.
int bits_of_sum(std::span<const Index> coefficient_of_size) {
  const double k = static_cast<double>(coefficient_of_size.size()) - 1;
  double sum = 1, n_subsets = 1;
  for (double size = 1; size <= k; ++size) {
    n_subsets *= (k - size + 1) / size;
    sum += n_subsets * std::abs(static_cast<double>(coefficient_of_size[static_cast<std::size_t>(size)]));
  }
  return static_cast<int>(std::ceil(std::log2(sum)));
}

}  // namespace

int choose_fraction_bits(std::span<const Index> coefficient_of_size, std::span<const Index> class_sizes,
                         double pseudocount, Index max_cells) {
  return choose_fraction_bits(class_sizes, pseudocount, max_cells) - bits_of_sum(coefficient_of_size);
}

TupleStatistic::TupleStatistic(const StatisticFormula& formula, std::span<const Index> class_sizes, double pseudocount,
                               Index max_cells)
    : formula_(formula),
      class_sizes_(class_sizes),
      pseudocount_(pseudocount),
      n_classes_(static_cast<Index>(class_sizes.size())),
      fraction_bits_(choose_fraction_bits(formula.coefficient_of_size, class_sizes, pseudocount, max_cells)),
      unit_(std::ldexp(1.0, -fraction_bits_)) {}

const CellInformation& TupleStatistic::cells_that_gather(Index multiplicity) {
  const auto found = tables_.find(multiplicity);
  if (found != tables_.end()) return found->second;
  return tables_.try_emplace(multiplicity, class_sizes_, pseudocount_, multiplicity, kMaxEntries, fraction_bits_)
      .first->second;
}

void TupleStatistic::set_up(std::span<const Index> n_levels) {
  if (std::equal(n_levels.begin(), n_levels.end(), n_levels_.begin(), n_levels_.end())) return;
  n_levels_.assign(n_levels.begin(), n_levels.end());
  const std::size_t k = n_levels_.size();
  n_cells_ = std::accumulate(n_levels_.begin(), n_levels_.end(), Index{1}, std::multiplies<>());
  const double n = static_cast<double>(std::accumulate(class_sizes_.begin(), class_sizes_.end(), Index{0}));
  n_samples_ = n + pseudocount_ * static_cast<double>(n_cells_);
  digits_.resize(k);
  summed_.resize(static_cast<std::size_t>(n_cells_ * n_classes_));
  sum_of_coefficients_ = 0;
  subsets_.clear();
  if (tables_.size() > kMaxTables) tables_.clear();
  for (std::size_t size = 1; size <= k; ++size) {
    const Index coefficient = formula_.coefficient_of_size[size];
    if (coefficient == 0) continue;
    std::vector<char> is_member(k, 0);  // every choice of `size` members, one after the other
    std::fill_n(is_member.begin(), size, char{1});
    do {
      Subset subset{coefficient, 1, std::vector<Index>(k, 0), nullptr};
      for (std::size_t m = k; m-- > 0;) {
        if (!is_member[m]) continue;
        subset.stride[m] = subset.n_cells;
        subset.n_cells *= n_levels_[m];
      }
      subset.of_cell = &cells_that_gather(n_cells_ / subset.n_cells);
      sum_of_coefficients_ += coefficient;
      subsets_.push_back(std::move(subset));
    } while (std::prev_permutation(is_member.begin(), is_member.end()));
  }
}

Fixed TupleStatistic::sum_over_cells(const Subset& subset, const Count* counts) {
  const Count* cells = counts;
  if (subset.n_cells != n_cells_) {
    // Walk through all cells like an odometer, with the subset's cell beside it.
    std::fill_n(summed_.begin(), subset.n_cells * n_classes_, Count{0});
    std::fill(digits_.begin(), digits_.end(), Index{0});
    Index target = 0;
    for (Index cell = 0; cell < n_cells_; ++cell) {
      for (Index q = 0; q < n_classes_; ++q) summed_[target * n_classes_ + q] += counts[cell * n_classes_ + q];
      for (std::size_t m = digits_.size(); m-- > 0;) {
        target += subset.stride[m];
        if (++digits_[m] < n_levels_[m]) break;
        target -= subset.stride[m] * n_levels_[m];
        digits_[m] = 0;
      }
    }
    cells = summed_.data();
  }
  if (formula_.with_decision) return information(*subset.of_cell, cells, subset.n_cells, n_classes_);
  Fixed sum = 0;
  for (Index cell = 0; cell < subset.n_cells; ++cell) sum += subset.of_cell->of_class(0)(cells[cell]);
  return sum;
}

double TupleStatistic::operator()(const Count* counts) {
  Fixed sum = 0;
  for (const Subset& subset : subsets_) sum += subset.coefficient * sum_over_cells(subset, counts);
  const double bits = static_cast<double>(sum) * unit_;
  // U is minus the sum of n·log2(share); H is log2(N) − Σ n·log2(n) / N.
  if (formula_.with_decision) return -bits;
  return static_cast<double>(sum_of_coefficients_) * std::log2(n_samples_) - bits / n_samples_;
}

}  // namespace interplay
