// information gain → maximum per variable
#pragma once

#include "interplay/types.hpp"

namespace interplay {

// The best gain of each row in each group of equal degrees of freedom, and where it was found. Views, so that the
// caller's arrays can be filled in place.
struct MaxGains {
  std::span<double> gain;           // n_rows * n_groups, −inf where there is none
  std::span<Index> discretization;  // n_rows * n_groups, −1 where there is none
  std::span<Index> tuples;          // n_rows * n_groups * dimensions, ascending
  Index dimensions;

  // Keep a candidate if it is better; on equal gains the lower (discretisation, tuple) wins. `members` need not be
  // sorted: they are only looked at if the gain is good enough.
  void offer(Index slot, double candidate, Index candidate_discretization, const Index* members) {
    if (candidate >= gain[slot]) keep(slot, candidate, candidate_discretization, members);
  }

  // Associative and commutative, so that the order in which threads finish does not matter.
  void merge(const MaxGains& other);

 private:
  void keep(Index slot, double candidate, Index candidate_discretization, const Index* members);
};

}  // namespace interplay
