// Patterns: each member of a sub-tuple is open, or at a level from 1 on. The first member varies fastest; with two
// levels everywhere a pattern is a subset of the members, by bits.
//
// Counts of patterns are enough: the count of a cell with a member at level 0 is the count of the pattern with that
// member open, less the counts of the cells with its other levels (inclusion–exclusion; over all members, a Möbius
// transform).
#pragma once

#include <vector>

#include "kernels/lane_kernels.hpp"

namespace interplay {

// Counts of patterns → counts of cells, in place, for members `first` … `last` − 1; earlier members are cells already.
// levels_of(member): how many levels it has; ClassCounts are transformed for both classes at once
template <class LevelsOf>
void patterns_to_cells(Count* counts, int first, int last, const LevelsOf& levels_of) {
  Index stride = 1, n_patterns = 1;
  for (int member = 0; member < last; ++member) n_patterns *= levels_of(member);
  for (int member = 0; member < last; ++member) {
    const Index outer = stride * levels_of(member);
    for (Index begin = 0; begin < n_patterns && member >= first; begin += outer) {
      for (Index at = begin; at < begin + stride; ++at) {
        for (Index other = at + stride; other < begin + outer; other += stride) counts[at] -= counts[other];
      }
    }
    stride = outer;
  }
}

// Two levels everywhere, known when this is compiled.
struct TwoLevels {
  constexpr Index operator()(int) const { return 2; }
};

// A pattern, by the members that are not open and its number among the patterns that leave none of these open.
struct Pattern {
  int subset;
  Index number;
};

// All patterns of the members of a subset of the prefix. levels: of every place of the prefix.
template <class Levels>
std::vector<Pattern> patterns_of(int subset, int n_prefix, const Levels& levels) {
  std::vector<Pattern> patterns{{0, 0}};
  std::vector<Index> n_closed(std::size_t{1} << n_prefix, 1);  // patterns of each subset that leave no member open
  for (int place = 0; place < n_prefix; ++place) {
    for (int s = 0; s < 1 << n_prefix; ++s) {
      if (s >> place & 1) n_closed[s] = n_closed[s & ~(1 << place)] * (levels[place] - 1);
    }
    if (!(subset >> place & 1)) continue;
    const std::size_t n_shorter = patterns.size();
    for (Index level = 1; level < levels[place]; ++level) {
      for (std::size_t i = 0; i < n_shorter; ++i) {
        const Pattern shorter = patterns[i];
        patterns.push_back({shorter.subset | 1 << place, shorter.number + (level - 1) * n_closed[shorter.subset]});
      }
    }
  }
  return patterns;
}

}  // namespace interplay
