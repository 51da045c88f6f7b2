// The data and the tiles of a search as Python holds them: checked when they are made, and kept alive by them.
#pragma once

#include "arrays.hpp"
#include "interplay/tile_searcher.hpp"

namespace interplay::bindings {

class Planes {
 public:
  Planes(Array<const Word> words, Array<const Index> plane_start, Array<const Index> n_levels,
         Array<const Index> class_word_start, Array<const Index> class_sizes, Index n_vars,
         Array<const std::int32_t> scores, Index radix);

  BitPlanes view() const;

 private:
  static void check_scores(const BitPlanes& planes);

  Array<const Word> words_;
  Array<const Index> plane_start_, n_levels_, class_word_start_, class_sizes_;
  Array<const std::int32_t> scores_;
  Index radix_, n_vars_;
};

// Blocks of variables and tiles over them, for rows of these levels.
class Tiles {
 public:
  Tiles(Array<const Index> n_levels, Index n_vars, Array<const Index> order, Array<const Index> block_start,
        Array<const Index> middle_start, Array<const Index> lane_start, Array<const std::int32_t> tiles,
        Array<const Index> partner_cells);

  Index dimensions() const { return static_cast<Index>(tiles_.shape(1)); }
  // The properties that do not need the bits of the variables.
  SearchProblem without_words(std::span<const Index> class_sizes, bool of_numbers, double pseudocount) const;
  // A search of these tiles; the planes must be of the same rows.
  SearchProblem over(const Planes& planes, double pseudocount, Index discretization) const;

 private:
  void check() const;

  Array<const Index> n_levels_;
  Index n_vars_;
  Array<const Index> order_, block_start_, middle_start_, lane_start_;
  Array<const std::int32_t> tiles_;
  Array<const Index> partner_cells_;
};

}  // namespace interplay::bindings
