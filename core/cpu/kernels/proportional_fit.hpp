// The shape of tables that are fitted, and the fit for one instruction set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interplay/proportional_fit.hpp"

namespace interplay {

// Axes are those of the members and, last, that of the classes. A part is a set of members, as bits.
struct FittedShape {
  explicit FittedShape(std::span<const Index> shape);

  Index n_members, n_classes, n_entries;
  std::vector<Index> lengths;                          // of each axis
  std::vector<Index> strides;                          // of each axis, in entries
  std::vector<Index> part_size;                        // of each part: entries of its margin, with the classes
  std::vector<std::vector<std::int32_t>> part_place;   // of each part: where in its margin an entry belongs
  std::vector<std::vector<std::int32_t>> from_larger;  // of each part but the whole: the same for entries of the margin
  std::vector<std::uint32_t> larger;                   // of the part with one member more, this one
};

using FitTables = void (*)(const FittedShape& shape, const Index* counts, std::size_t n_tables,
                           const FitOptions& options, double* g2, bool* is_complete);

FitTables fit_tables_serial();
#if defined(INTERPLAY_X86)
FitTables fit_tables_avx2();
FitTables fit_tables_avx512();
#endif

}  // namespace interplay
