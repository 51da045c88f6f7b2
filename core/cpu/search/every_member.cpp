#include "interplay/every_member.hpp"

namespace interplay {
namespace {

// Whether all levels of the member together have samples of each class, in each cell of the others.
bool has_margins_without(const TableMember& member, const Count* counts, Index n_cells, Index n_classes) {
  const Index stride = member.inner * n_classes, outer = member.n_levels * stride;
  for (Index first = 0; first < n_cells * n_classes; first += outer) {
    for (Index i = 0; i < stride; ++i) {
      const Count* at = counts + first + i;
      Count sum = 0;
      for (Index level = 0; level < member.n_levels && !sum; ++level) sum += at[level * stride];
      if (!sum) return false;
    }
  }
  return true;
}

}  // namespace

bool has_all_margins(const Count* counts, Index n_cells, Index n_classes, std::span<const TableMember> members) {
  // Mostly no count is 0, and then no margin is.
  if (std::find(counts, counts + n_cells * n_classes, Count{0}) == counts + n_cells * n_classes) return true;
  for (Index cell = 0; cell < n_cells; ++cell) {
    const Count* of_cell = counts + cell * n_classes;
    if (std::all_of(of_cell, of_cell + n_classes, [](Count n) { return n == 0; })) return false;
  }
  return std::all_of(members.begin(), members.end(), [&](const TableMember& member) {
    return member.is_stratum || has_margins_without(member, counts, n_cells, n_classes);
  });
}

}  // namespace interplay
