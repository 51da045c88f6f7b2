// counts of a tuple → a lower bound of the degrees of freedom of its interaction
#pragma once

#include <span>
#include <vector>

#include "interplay/types.hpp"

namespace interplay {

// A member of a table of counts: its levels are `inner` cells apart.
struct TableMember {
  Index n_levels, inner;
  bool operator==(const TableMember&) const = default;
};

// The null model, ln μ(x, y) = a(x) + Σᵢ bᵢ(x₋ᵢ, y), keeps the margins n(x, ·) and n(x₋ᵢ, y). Where all of them are
// positive, the interaction has (classes − 1) · Π (levels − 1) degrees of freedom. In an entry (x, y) of an empty
// margin the model says 0, and the entry does not count. The degrees of freedom are the entries that do, less the rank
// of the model's columns there, which is not above the number of columns that have such an entry. A column belongs to
// each choice of some members, not all, of a level from 1 on for each of them, and of a class from 1 on; a cell with
// one class left needs none. With strata, those of the strata add up.
//
// The mean of a number outcome is modelled by the same columns, of one class, in the cells that have samples: an empty
// cell takes away one degree of freedom at most.
class DegreesOfFreedom {
 public:
  // members: of all cells of the table; has_stratum: the first is a stratum
  void set_up(std::span<const TableMember> members, const BitPlanes& planes, bool has_stratum);

  // Of a table whose margins are all positive.
  Index full() const { return n_strata_ * full_of_stratum_; }
  // Of any table, at most as many as it has. counts: IN all cells, cell_size numbers each
  Index fewest(const Count* counts);

 private:
  Index fewest_of_numbers(const Count* counts) const;
  Index fewest_of_stratum();
  void find_supported();
  Index n_columns_with_entries();

  std::vector<TableMember> given_;
  std::vector<TableMember> members_;  // within a stratum
  bool of_numbers_ = false;
  Index n_classes_ = 0, n_strata_ = 1, stratum_inner_ = 1;
  Index n_cells_ = 0, n_entries_ = 0;  // of a stratum
  Index full_of_stratum_ = 0;
  Index n_columns_ = 0, n_words_ = 0;
  bool are_many_ = false;                // columns, or entries: all columns are taken to have some
  std::vector<Word> columns_;            // [column]: the entries it has
  std::vector<std::uint8_t> positive_;   // [entry]: whether it has samples
  std::vector<std::uint8_t> supported_;  // [entry]: whether it counts
  std::vector<Word> packed_;             // the same as bits
};

}  // namespace interplay
