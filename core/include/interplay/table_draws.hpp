// Tables drawn under H0 of the interaction test: the same numbers as numpy.random.RandomState draws from the same seed.
#pragma once

#include <cstdint>
#include <span>

#include "interplay/types.hpp"

namespace interplay {

// Draws tables of one tuple with the given cell sizes, class by class and for each class all tables: the samples of a
// class are binomial among those of its cell that are left, with its chance there. `chances` has all classes but the
// last, one after the other; `tables` the entries (cell, class) of each table.
void draw_tables(std::span<const std::uint32_t> seed, std::span<const Index> cell_sizes,
                 std::span<const double> chances, Index n_tables, std::span<Index> tables);

}  // namespace interplay
