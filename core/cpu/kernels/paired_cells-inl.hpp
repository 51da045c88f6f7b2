// counts of patterns → counts of cells, of two classes side by side, 16 lanes at a time. Included by
// lane_kernels-inl.hpp.
//
// Cells with members at level 0 are made from the counts of patterns when they are scored: with up to two members in
// the prefix, reading these counts again costs less than storing cells that do not fit into registers.
#pragma once

#include "kernels/lane_kernels.hpp"
#include "kernels/lowest_bit-inl.hpp"

namespace {

// The counts of 16 lanes, 16 bits for each class.
template <class Simd>
struct PairBlock {
  using Counts = typename Simd::Counts;
  static constexpr int kRegisters = 16 / Simd::kFloats;
  Counts of[kRegisters];

  INTERPLAY_INLINE static PairBlock load(const interplay::ClassCounts* lanes) {
    PairBlock block;
    for (int i = 0; i < kRegisters; ++i) block.of[i] = Simd::load_pairs(lanes + i * Simd::kFloats);
    return block;
  }
  INTERPLAY_INLINE static PairBlock load_bytes(const interplay::BytePair* lanes) {
    PairBlock block;
    for (int i = 0; i < kRegisters; ++i) block.of[i] = Simd::load_byte_pairs(lanes + i * Simd::kFloats);
    return block;
  }
  INTERPLAY_INLINE static PairBlock set(interplay::ClassCounts counts) {
    PairBlock block;
    for (int i = 0; i < kRegisters; ++i) block.of[i] = Simd::set_pairs(counts);
    return block;
  }
  INTERPLAY_INLINE void subtract(const PairBlock& other) {
    for (int i = 0; i < kRegisters; ++i) of[i] = Simd::sub_counts(of[i], other.of[i]);
  }
  INTERPLAY_INLINE void keep_least(const PairBlock& other) {
    for (int i = 0; i < kRegisters; ++i) of[i] = Simd::min_counts(of[i], other.of[i]);
  }
};

// The same of 16 · Registers lanes in bytes: counts modulo 256, which are the counts themselves for cells of fewer
// samples.
template <class Simd, int Registers>
struct ByteBlock {
  using Counts = typename Simd::Counts;
  static constexpr int kRegisters = Registers;
  Counts of[Registers];

  INTERPLAY_INLINE static ByteBlock load(const interplay::ClassCounts* lanes) {
    ByteBlock block;
    for (int i = 0; i < Registers; ++i, lanes += 16) {
      block.of[i] = Simd::narrow_pairs(Simd::load_pairs(lanes), Simd::load_pairs(lanes + 8));
    }
    return block;
  }
  INTERPLAY_INLINE static ByteBlock load_bytes(const interplay::BytePair* lanes) {
    ByteBlock block;
    for (int i = 0; i < Registers; ++i) block.of[i] = Simd::load_counts(lanes + 16 * i);
    return block;
  }
  INTERPLAY_INLINE static ByteBlock set(interplay::ClassCounts counts) {
    const auto pair = static_cast<interplay::BytePair>((counts & 0xff) | (counts >> 8 & 0xff00));
    ByteBlock block;
    for (int i = 0; i < Registers; ++i) block.of[i] = Simd::set_counts(pair);
    return block;
  }
  INTERPLAY_INLINE void subtract(const ByteBlock& other) {
    for (int i = 0; i < Registers; ++i) of[i] = Simd::sub_bytes(of[i], other.of[i]);
  }
};

// Blocks in memory, register by register: compilers copy structs by way of narrower ones.
template <class Block>
INTERPLAY_INLINE void put_block(typename Block::Counts* blocks, int i, const Block& block) {
  for (int r = 0; r < Block::kRegisters; ++r) blocks[i * Block::kRegisters + r] = block.of[r];
}
template <class Block>
INTERPLAY_INLINE Block get_block(const typename Block::Counts* blocks, int i) {
  Block block;
  for (int r = 0; r < Block::kRegisters; ++r) block.of[r] = blocks[i * Block::kRegisters + r];
  return block;
}

// The cells of the tuples of the lanes of a block, from `lane` on. visit(cell, counts_of) is called for each cell of
// the prefix: counts_of(upper), to be called once for each, in order, are the counts with level `upper` + 1 of the
// lane. Levels: of every member and of the lane, or 0 if they are only known at run time. Bytes: the counts of patterns
// that leave no member open are in counts.whole.
template <class Block, int Levels, bool Bytes = false>
struct PairedCells {
  const interplay::PairedCounts& counts;
  const int lane;

  int levels_of(int member) const { return Levels ? Levels : counts.shape.levels[member]; }
  int n_upper() const { return (Levels ? Levels : counts.shape.lane_levels) - 1; }
  // Level `upper` + 1 of the lanes, with a pattern of the prefix.
  INTERPLAY_INLINE Block at(int pattern, int upper) const {
    return Block::load(counts.with_lane[pattern] + upper * counts.shape.lane_stride + lane);
  }
  // The same with a pattern that leaves no member open, by its number among these, too.
  INTERPLAY_INLINE Block at_whole(int pattern, int number, int upper) const {
    if constexpr (Bytes) {
      return Block::load_bytes(counts.whole + (number * n_upper() + upper) * counts.shape.lane_stride + lane);
    } else {
      return at(pattern, upper);
    }
  }

  // Call take(counts) with each level from 1 on of the lane, then with the rest of the prefix's cell: level 0.
  template <class CountsOf, class Take>
  INTERPLAY_INLINE void take_levels(int cell, const CountsOf& counts_of, const Take& take) const {
    Block rest = Block::set(counts.prefix_cells[cell]);
    for (int upper = 0; upper < n_upper(); ++upper) {
      const Block with_lane = counts_of(upper);
      rest.subtract(with_lane);
      take(with_lane);
    }
    take(rest);
  }

  template <class Visit>
  INTERPLAY_INLINE void of_one_member(const Visit& visit) const {
    const int n = levels_of(0);
    for (int level = 1; level < n; ++level) {
      visit(level, [&](int upper) { return at(level, upper); });
    }
    const auto at_zero = [&](int upper) {
      Block block = at(0, upper);
      for (int level = 1; level < n; ++level) block.subtract(at(level, upper));
      return block;
    };
    visit(0, at_zero);
  }

  template <class Visit>
  INTERPLAY_INLINE void of_two_members(const Visit& visit) const {
    const int n = levels_of(0), n_patterns = n * levels_of(1);
    // Both members at level 0: samples with the first at level 0, less samples that also have the second at another
    // level.
    Block both_zero[interplay::kMaxLaneLevels - 1];
    for (int upper = 0; upper < n_upper(); ++upper) {
      both_zero[upper] = at(0, upper);
      for (int level = 1; level < n; ++level) both_zero[upper].subtract(at(level, upper));
    }
    for (int first = n, number = -1; first < n_patterns; first += n, number += n - 1) {
      for (int level = 1; level < n; ++level) {
        visit(first + level, [&](int upper) { return at_whole(first + level, number + level, upper); });
      }
      const auto first_at_zero = [&](int upper) {
        Block block = at(first, upper);
        for (int level = 1; level < n; ++level) block.subtract(at_whole(first + level, number + level, upper));
        both_zero[upper].subtract(block);
        return block;
      };
      visit(first, first_at_zero);
    }
    for (int level = 1; level < n; ++level) {
      const auto second_at_zero = [&](int upper) {
        Block block = at(level, upper);
        int number = level - 1;
        for (int first = n; first < n_patterns; first += n, number += n - 1) {
          block.subtract(at_whole(first + level, number, upper));
        }
        return block;
      };
      visit(level, second_at_zero);
    }
    visit(0, [&](int upper) { return both_zero[upper]; });
  }

  // Any number of members: by way of the scratch buffer.
  template <class Visit>
  INTERPLAY_INLINE void of_members(const Visit& visit) const {
    const interplay::LevelShape& shape = counts.shape;
    const int n_patterns = shape.n_patterns;
    for (int upper = 0; upper < n_upper(); ++upper) {
      typename Block::Counts* cells = scratch(upper);
      for (int pattern = 0; pattern < n_patterns; ++pattern) put_block(cells, pattern, at(pattern, upper));
      for (int member = 0, stride = 1; member < shape.n_prefix; ++member) {
        const int outer = stride * shape.levels[member];
        for (int begin = 0; begin < n_patterns; begin += outer) {
          for (int open = begin; open < begin + stride; ++open) {
            Block rest = get_block<Block>(cells, open);
            for (int other = open + stride; other < begin + outer; other += stride) {
              rest.subtract(get_block<Block>(cells, other));
            }
            put_block(cells, open, rest);
          }
        }
        stride = outer;
      }
    }
    for (int cell = 0; cell < n_patterns; ++cell) {
      visit(cell, [&](int upper) { return get_block<Block>(scratch(upper), cell); });
    }
  }

 private:
  typename Block::Counts* scratch(int upper) const {
    return reinterpret_cast<typename Block::Counts*>(counts.scratch + upper * counts.shape.n_patterns * 16);
  }
};

// Call take(counts) with the counts of each cell. Members: of the prefix, 1 or 2, or 0 for any number.
template <class Block, int Levels, int Members, bool Bytes, class Take>
INTERPLAY_INLINE void for_paired_cells(const interplay::PairedCounts& counts, int lane, const Take& take) {
  const PairedCells<Block, Levels, Bytes> cells{counts, lane};
  const auto visit = [&](int cell, const auto& counts_of)
                         INTERPLAY_INLINE_LAMBDA { cells.take_levels(cell, counts_of, take); };
  if constexpr (Members == 1) {
    cells.of_one_member(visit);
  } else if constexpr (Members == 2) {
    cells.of_two_members(visit);
  } else {
    cells.of_members(visit);
  }
}

}  // namespace
