// counts → information gain
//
// A gain is a difference of sums of x·log2(x). The terms are rounded once to 64-bit fixed point and added as
// integers. Integer addition is exact, so the gain does not depend on the order of the cells, of the variables in the
// tuple or of the classes: every engine, thread count, tile size and instruction set gives the same bits, and two
// tuples with the same counts tie exactly. The resolution is finer than the rounding of the same sum in float64.
#pragma once

#include <memory>
#include <vector>

#include "interplay/sum_information.hpp"
#include "interplay/types.hpp"

namespace interplay {

// As many bits after the point as leave room for every partial sum over a table of this search in 63 bits.
// max_cells: the most cells that a tuple of this search can have.
int choose_fraction_bits(std::span<const Index> class_sizes, double pseudocount, Index max_cells);

// x·log2(x) in fixed point at x = n + offset.
class XLogX {
 public:
  XLogX() = default;
  XLogX(double offset, Index n_max, Index max_entries, int fraction_bits, Index max_threads = 1);

  Fixed operator()(Count n) const { return n < table_.size() ? table_[n] : compute(n); }

  // The values at 0, 1, 2, …, if all that can be asked for are tabulated; else null.
  const Fixed* complete_table() const { return complete_ ? table_.data() : nullptr; }

 private:
  Fixed compute(Count n) const;

  double offset_ = 0;
  double scale_ = 1;
  bool complete_ = false;
  std::vector<Fixed> table_;
};

// Information of the cells of a table whose cells each gather `multiplicity` cells of the full table, and so carry
// that many pseudocounts. Of a number outcome: of any table, from counts and sums.
class CellInformation {
 public:
  explicit CellInformation(const SumInformation* of_sums) : of_sums_(of_sums) {}
  CellInformation(std::span<const Index> class_sizes, double pseudocount, Index multiplicity, Index max_entries,
                  int fraction_bits, Index max_threads = 1);

  // Σ_q g(n_q) − g(Σ_q n_q): minus the cell's share of the unnormalised conditional entropy.
  Fixed operator()(const Count* counts) const {
    Count total = 0;
    Fixed sum = 0;
    for (std::size_t q = 0; q < of_class_.size(); ++q) {
      sum += of_class_[q](counts[q]);
      total += counts[q];
    }
    return sum - of_total_(total);
  }

  const XLogX& of_class(Index q) const { return of_class_[q]; }
  const XLogX& of_total() const { return of_total_; }
  const SumInformation* of_sums() const { return of_sums_; }  // null for classes

 private:
  const SumInformation* of_sums_ = nullptr;
  std::vector<XLogX> of_class_;
  XLogX of_total_;
};

// All the tables a search needs: one for the full tuple, one per number of levels that a variable may be summed over.
class InformationTables {
 public:
  // max_cells: the most cells that a tuple of this search can have.
  InformationTables(std::span<const Index> class_sizes, double pseudocount, std::span<const Index> distinct_levels,
                    Index max_cells);
  // Of a number outcome.
  explicit InformationTables(std::unique_ptr<SumInformation> of_sums);

  const CellInformation& of_tuple() const { return of_tuple_; }
  const CellInformation& summed_over(Index n_levels) const;
  double to_bits(Fixed value) const { return static_cast<double>(value) * unit_; }

 private:
  std::unique_ptr<SumInformation> of_sums_;
  int fraction_bits_ = 0;
  double unit_;
  CellInformation of_tuple_;
  std::vector<Index> levels_;
  std::vector<CellInformation> summed_;
};

// Information of a table of n_cells cells, of cell_size numbers each.
Fixed information(const CellInformation& of_cell, const Count* counts, Index n_cells, Index cell_size);

// Information of a table summed over one variable.
// counts: IN outer * n_levels * inner cells, cell_size numbers each; summed: scratch for inner * cell_size numbers
Fixed summed_information(const CellInformation& of_cell, const Count* counts, Index outer, Index n_levels, Index inner,
                         Index cell_size, Count* summed);

}  // namespace interplay
