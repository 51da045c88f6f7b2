// The arrays of arrays.py as C++ sees them: views, never owners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace interplay {

using Word = std::uint64_t;
// Counts are 32 bits wide: 10 million samples in one cell do not overflow them.
using Count = std::uint32_t;
using Index = std::int64_t;

// Each class of samples fills whole blocks of this many words: one cache line, one 512-bit register.
inline constexpr Index kWordsPerBlock = 8;

// Bits of every level but level 0, samples grouped by decision class (see BitPlanes in arrays.py).
//
// A number outcome has no classes. Its samples are sorted by an integer score, which the samples of a byte share; a
// byte may have fewer than eight samples.
struct BitPlanes {
  std::span<const Word> words;              // n_planes * n_words
  Index n_words;                            // words in one plane
  std::span<const Index> plane_start;       // n_rows + 1
  std::span<const Index> n_levels;          // n_rows
  std::span<const Index> class_word_start;  // n_classes + 1
  std::span<const Index> class_sizes;       // n_classes
  Index n_vars;                             // rows from here on are contrast variables
  bool of_numbers = false;                  // the outcome is a number, and all samples are of one class
  std::span<const std::int32_t> scores{};   // then 8 * n_words, of each byte, ascending; 0 after the last sample
  std::span<const Word> samples{};          // then n_words, the bits that are samples

  Index n_rows() const { return static_cast<Index>(n_levels.size()); }
  Index n_classes() const { return static_cast<Index>(class_sizes.size()); }
  // Numbers that are kept of a cell: the samples of each class, or the samples and the sum of their scores. A sum is
  // kept modulo 2³², as its bits.
  Index cell_size() const { return of_numbers ? 2 : n_classes(); }
  // The plane of `level` (1, 2, …) of variable `row`.
  const Word* plane(Index row, Index level) const { return words.data() + (plane_start[row] + level - 1) * n_words; }
};

// Rows cut into lane blocks, these into middle blocks, these into small blocks; all variables of a lane block have the
// same number of levels.
struct VariableBlocks {
  std::span<const Index> order;         // row numbers, block after block, ascending within a block
  std::span<const Index> block_start;   // small blocks, n + 1 entries: for all places of a tuple but the last two
  std::span<const Index> middle_start;  // middle blocks: for the last but one
  std::span<const Index> lane_start;    // lane blocks: for the last

  // Where the blocks of a place start.
  std::span<const Index> starts(Index place, Index dimensions) const {
    return place + 1 == dimensions ? lane_start : place + 2 == dimensions ? middle_start : block_start;
  }
  Index n_lane_blocks() const { return static_cast<Index>(lane_start.size()) - 1; }
};

// Tiles of tuples: a block number per place, of small blocks, then a middle block, then a lane block. A tile holds
// every tuple that takes one variable from each of them, in ascending order of their places in `order`.
struct TupleTiles {
  std::span<const std::int32_t> blocks;  // n_tiles * dimensions
  Index dimensions;

  Index size() const { return static_cast<Index>(blocks.size()) / dimensions; }
  const std::int32_t* operator[](Index tile) const { return blocks.data() + tile * dimensions; }
};

}  // namespace interplay
