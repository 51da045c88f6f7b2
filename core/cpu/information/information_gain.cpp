#include "interplay/information_gain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace interplay {
namespace {

// Entries of all tables of one search together (64 MB). Counts beyond a table's end are computed one by one: the same
// function, so the same bits.
constexpr Index kMaxEntriesInAll = Index{1} << 23;
constexpr Index kMaxEntriesOfOne = Index{1} << 20;
constexpr Index kMinEntriesOfOne = Index{1} << 12;

// Entries of a table that are worth a thread.
constexpr Index kEntriesOfThread = Index{1} << 15;

Index sum_of(std::span<const Index> values) { return std::accumulate(values.begin(), values.end(), Index{0}); }

// β_q = ξ · N_q / min N; the sum over classes is ξ · N / min N, which does not depend on the order of the classes.
double pseudocount_of(Index n, std::span<const Index> class_sizes, double pseudocount) {
  const Index smallest = *std::min_element(class_sizes.begin(), class_sizes.end());
  return pseudocount * static_cast<double>(n) / static_cast<double>(smallest);
}

Index entries_of_one(std::size_t n_classes, std::size_t n_tables) {
  const Index share = kMaxEntriesInAll / static_cast<Index>((n_classes + 1) * n_tables);
  return std::clamp(share, kMinEntriesOfOne, kMaxEntriesOfOne);
}

}  // namespace

// Partial sums are at most twice N′·log2(N′), N′ with all pseudocounts, and at least −0.54 a term.
int choose_fraction_bits(std::span<const Index> class_sizes, double pseudocount, Index max_cells) {
  const double n = static_cast<double>(sum_of(class_sizes)) +
                   static_cast<double>(max_cells) * pseudocount_of(sum_of(class_sizes), class_sizes, pseudocount);
  const double bound =
      2 * n * std::log2(n + 2) + static_cast<double>(max_cells) * static_cast<double>(class_sizes.size() + 1);
  return 61 - static_cast<int>(std::ceil(std::log2(bound + 2)));
}

XLogX::XLogX(double offset, Index n_max, Index max_entries, int fraction_bits, Index max_threads)
    : offset_(offset), scale_(std::ldexp(1.0, fraction_bits)), complete_(n_max < max_entries) {
  const Index n_entries = std::min(n_max + 1, max_entries);
  std::vector<Fixed> table(static_cast<std::size_t>(n_entries));
  const auto fill = [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) table[n] = compute(static_cast<Count>(n));
  };
  // Logarithms of hundreds of thousands of counts take longer than some searches: several threads may share them.
  const Index n_threads = std::clamp<Index>(n_entries / kEntriesOfThread, 1, std::max<Index>(max_threads, 1));
  std::vector<std::thread> others;
  Index begin = 0;
  for (Index t = 1; t < n_threads; ++t) {
    const Index end = n_entries * t / n_threads;
    try {
      others.emplace_back(fill, begin, end);
    } catch (const std::system_error&) {  // the system gives no more
      break;
    }
    begin = end;
  }
  fill(begin, n_entries);
  for (std::thread& other : others) other.join();
  table_ = std::move(table);
}

Fixed XLogX::compute(Count n) const {
  const double x = static_cast<double>(n) + offset_;
  if (x <= 0) return 0;
  const double value = x * std::log2(x) * scale_;
  // Most entries are so large that a double has no fraction, and need no call to be rounded.
  return std::abs(value) >= 0x1p52 ? static_cast<Fixed>(value) : std::llround(value);
}

CellInformation::CellInformation(std::span<const Index> class_sizes, double pseudocount, Index multiplicity,
                                 Index max_entries, int fraction_bits, Index max_threads)
    : of_total_(static_cast<double>(multiplicity) * pseudocount_of(sum_of(class_sizes), class_sizes, pseudocount),
                sum_of(class_sizes), max_entries, fraction_bits, max_threads) {
  for (const Index size : class_sizes) {
    const double offset = static_cast<double>(multiplicity) * pseudocount_of(size, class_sizes, pseudocount);
    of_class_.emplace_back(offset, size, max_entries, fraction_bits, max_threads);
  }
}

InformationTables::InformationTables(std::span<const Index> class_sizes, double pseudocount,
                                     std::span<const Index> distinct_levels, Index max_cells)
    : fraction_bits_(choose_fraction_bits(class_sizes, pseudocount, max_cells)),
      unit_(std::ldexp(1.0, -fraction_bits_)),
      of_tuple_(class_sizes, pseudocount, 1, entries_of_one(class_sizes.size(), distinct_levels.size() + 1),
                fraction_bits_),
      levels_(distinct_levels.begin(), distinct_levels.end()) {
  const Index max_entries = entries_of_one(class_sizes.size(), distinct_levels.size() + 1);
  for (const Index n_levels : levels_) {
    summed_.emplace_back(class_sizes, pseudocount, n_levels, max_entries, fraction_bits_);
  }
}

InformationTables::InformationTables(std::unique_ptr<SumInformation> of_sums)
    : of_sums_(std::move(of_sums)), unit_(of_sums_->unit()), of_tuple_(of_sums_.get()) {}

const CellInformation& InformationTables::summed_over(Index n_levels) const {
  if (of_sums_) return of_tuple_;
  const auto found = std::find(levels_.begin(), levels_.end(), n_levels);
  if (found == levels_.end()) throw std::logic_error("no information table for this number of levels");
  return summed_[static_cast<std::size_t>(found - levels_.begin())];
}

Fixed information(const CellInformation& of_cell, const Count* counts, Index n_cells, Index cell_size) {
  if (const SumInformation* sums = of_cell.of_sums()) return sums->information(sums->squares(counts, n_cells));
  Fixed sum = 0;
  if (cell_size == 2) {
    // The common case, with nothing between the loads: this loop is where a direct search spends its time.
    const Fixed* of_class_0 = of_cell.of_class(0).complete_table();
    const Fixed* of_class_1 = of_cell.of_class(1).complete_table();
    const Fixed* of_total = of_cell.of_total().complete_table();
    if (of_total) {  // the classes are smaller than the total, so their tables are complete too
      for (Index cell = 0; cell < n_cells; ++cell, counts += 2) {
        sum += of_class_0[counts[0]] + of_class_1[counts[1]] - of_total[counts[0] + counts[1]];
      }
      return sum;
    }
  }
  for (Index cell = 0; cell < n_cells; ++cell) sum += of_cell(counts + cell * cell_size);
  return sum;
}

Fixed summed_information(const CellInformation& of_cell, const Count* counts, Index outer, Index n_levels, Index inner,
                         Index cell_size, Count* summed) {
  const Index row = inner * cell_size;
  const SumInformation* sums = of_cell.of_sums();
  Fixed sum = 0;
  for (Index o = 0; o < outer; ++o, counts += n_levels * row) {
    std::copy(counts, counts + row, summed);
    for (Index level = 1; level < n_levels; ++level) {
      for (Index i = 0; i < row; ++i) summed[i] += counts[level * row + i];
    }
    sum += sums ? sums->squares(summed, inner) : information(of_cell, summed, inner, cell_size);
  }
  return sums ? sums->information(sum) : sum;
}

}  // namespace interplay
