// counts → an entropy, or a sum of entropies, of a tuple
#pragma once

#include <map>
#include <vector>

#include "interplay/information_gain.hpp"
#include "interplay/types.hpp"

namespace interplay {

// Σ_S coefficient(|S|) · E(S) over the non-empty subsets S of a tuple. E is the entropy of the decision given S, times
// the number of samples (U), or, without a decision, the entropy of S itself, in bits per sample (H). Tables of
// subsets are sums of the cells of the full table, pseudocounts included.
struct StatisticFormula {
  std::span<const Index> coefficient_of_size;  // dimensions + 1 entries, the first is not used
  bool with_decision;
};

// As many bits after the point as leave room for the sum over all subsets of a tuple in 63 bits.
int choose_fraction_bits(std::span<const Index> coefficient_of_size, std::span<const Index> class_sizes,
                         double pseudocount, Index max_cells);

// Scores one tuple after another; one per thread.
class TupleStatistic {
 public:
  TupleStatistic(const StatisticFormula& formula, std::span<const Index> class_sizes, double pseudocount,
                 Index max_cells);

  // The numbers of levels of the tuples that come now, last member fastest in their counts.
  void set_up(std::span<const Index> n_levels);
  // counts: IN cells * n_classes
  double operator()(const Count* counts);

 private:
  struct Subset {
    Index coefficient;
    Index n_cells;
    std::vector<Index> stride;  // of each member in the table of the subset; 0 if it is not in it
    const CellInformation* of_cell;
  };

  const CellInformation& cells_that_gather(Index multiplicity);
  Fixed sum_over_cells(const Subset& subset, const Count* counts);

  const StatisticFormula formula_;
  const std::span<const Index> class_sizes_;
  const double pseudocount_;
  const Index n_classes_;
  int fraction_bits_;
  double unit_;

  std::vector<Index> n_levels_;
  Index n_cells_ = 0;
  double n_samples_ = 0;  // with pseudocounts
  Index sum_of_coefficients_ = 0;
  std::vector<Subset> subsets_;
  std::map<Index, CellInformation> tables_;  // by multiplicity
  std::vector<Index> digits_;
  std::vector<Count> summed_;
};

}  // namespace interplay
