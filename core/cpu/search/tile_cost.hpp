#pragma once
#include "interplay/routing.hpp"
namespace interplay {
struct TileWork { double prefixes, words, rows, scored; };
TileWork work_of(const SearchProblem& problem, const std::int32_t* tile, Searcher searcher);
inline constexpr TileWork kCostOf[] = {{0,0,0,0},{1,1,1,1},{1,1,1,1},{1,1,1,1},{1,1,1,1},{1,1,1,1}};
}
