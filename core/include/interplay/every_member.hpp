// The rule by which a search lists tuples of which every member gains: what the gains have to reach.
#pragma once

#include <algorithm>
#include <limits>

#include "interplay/types.hpp"

namespace interplay {

// What a member must gain depends on the degrees of freedom of the tuple's interaction: (classes − 1) · Π (levels − 1),
// times the strata, in a table where all margins that its null model keeps are positive. In others they may be as few
// as 1.
struct EveryMember {
  std::span<const double> min_gain;  // by degrees of freedom, ascending; the first is not used, the last is for more
  bool has_stratum;                  // the first member of every tuple is one, and is asked for nothing

  bool asks(Index member) const { return !has_stratum || member != 0; }
  double least() const { return min_gain[1]; }
  // What a member must gain at least, whatever the counts.
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

// A member of a table of counts: its levels are `inner` cells apart.
struct TableMember {
  Index n_levels, inner;
  bool is_stratum;
};

// The degrees of freedom of a table whose margins are all positive.
inline Index full_degrees_of_freedom(std::span<const TableMember> members, Index n_classes) {
  Index df = n_classes - 1;
  for (const TableMember& member : members) df *= member.is_stratum ? member.n_levels : member.n_levels - 1;
  return df;
}

// Whether each cell has a sample, and, for each member but a stratum, so does each cell of the others in each class.
// counts: IN n_cells * n_classes
bool has_all_margins(const Count* counts, Index n_cells, Index n_classes, std::span<const TableMember> members);

}  // namespace interplay
