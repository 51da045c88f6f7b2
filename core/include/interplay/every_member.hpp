// The rule by which a search lists tuples of which every member gains: the thresholds of the gains.
#pragma once

#include <algorithm>
#include <limits>

#include "interplay/types.hpp"

namespace interplay {

// The threshold of a gain depends on the degrees of freedom of the tuple's interaction, of which a lower bound is known
// (search/degrees_of_freedom.hpp).
struct EveryMember {
  std::span<const double> min_gain;  // by degrees of freedom, ascending; the first is not used, the last is for more
  bool has_stratum;                  // the first member of every tuple is one, and is asked for nothing

  bool asks(Index member) const { return !has_stratum || member != 0; }
  double least() const { return min_gain[1]; }
  // The threshold for any counts.
  double least_of(Index member) const { return asks(member) ? least() : -std::numeric_limits<double>::infinity(); }
  double of_df(Index df) const { return min_gain[std::clamp<Index>(df, 1, static_cast<Index>(min_gain.size()) - 1)]; }
};

// The smallest gain of a tuple's members; of equal ones that of the lowest row.
struct SmallestGain {
  Index row = -1;
  double gain = std::numeric_limits<double>::infinity();

  void add(Index of_row, double more) {
    if (more > gain || (more == gain && of_row > row)) return;
    row = of_row;
    gain = more;
  }
};

}  // namespace interplay
