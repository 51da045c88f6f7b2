#include "interplay/max_gains.hpp"

#include <algorithm>
#include <array>

namespace interplay {

void MaxGains::keep(Index slot, double candidate, Index candidate_discretization, const Index* members) {
  // Sorting in a small buffer on the stack; a tuple of more than 64 variables would have more cells than any memory.
  std::array<Index, 64> sorted;
  std::copy(members, members + dimensions, sorted.begin());
  std::sort(sorted.begin(), sorted.begin() + dimensions);

  Index* tuple = tuples.data() + slot * dimensions;
  if (candidate == gain[slot]) {
    // −1 marks an empty slot, which loses to anything, a gain of −inf included.
    if (discretization[slot] >= 0) {
      if (candidate_discretization > discretization[slot]) return;
      if (candidate_discretization == discretization[slot] &&
          !std::lexicographical_compare(sorted.begin(), sorted.begin() + dimensions, tuple, tuple + dimensions)) {
        return;
      }
    }
  }
  gain[slot] = candidate;
  discretization[slot] = candidate_discretization;
  std::copy(sorted.begin(), sorted.begin() + dimensions, tuple);
}

void MaxGains::merge(const MaxGains& other) {
  for (std::size_t slot = 0; slot < gain.size(); ++slot) {
    if (other.discretization[slot] < 0) continue;
    const Index s = static_cast<Index>(slot);
    offer(s, other.gain[slot], other.discretization[slot], other.tuples.data() + s * dimensions);
  }
}

}  // namespace interplay
