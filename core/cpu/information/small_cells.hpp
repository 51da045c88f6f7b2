// class sizes → tables of the information of cells of a few samples, as bytes
//
// With f(n, β) = (n + β)·log2(n + β), a cell of n_0 and n_1 samples, n in all, has the information (as LaneModel means
// it) f(n_0, β_0) + f(n_1, β_1) − f(n, β_0 + β_1) − Σ (n_q + β_q)·log2(s_q), β_q its pseudocounts of class q and s_q
// the share of the class among all samples. A straight line in n_q may be moved out of the tables at will: summed over
// the levels of a lane, n_q is the count of the cell of the prefix. Less the chord from n = 0 to n = 15, f spans some
// seven bits, which bytes divide into steps of a thirtieth of a bit. Every entry is rounded up, so the sum is never
// below the information, and above it by less than three steps, one and a half in the mean.
#pragma once

#include "kernels/lane_kernels.hpp"

namespace interplay {

SmallCellTables make_small_cell_tables(std::span<const Index> class_sizes, double pseudocount);

}  // namespace interplay
