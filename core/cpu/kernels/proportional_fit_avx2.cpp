#include "kernels/proportional_fit-inl.hpp"

namespace interplay {

FitTables fit_tables_avx2() { return &fit_with_lanes; }

}  // namespace interplay
