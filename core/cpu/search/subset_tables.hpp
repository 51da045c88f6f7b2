// Counts of the sub-tuples of a tile: a table for each subset of the places of the prefix.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "kernels/lane_kernels.hpp"
#include "memory/aligned_buffer.hpp"

namespace interplay {

using Places = std::array<Index, kMaxPrefix>;  // one per place of the prefix

// Counts of a subset of the prefix with every lane, for each pattern that leaves none of its members open, and for all
// variables that its places may hold while the variables before the first gap stay the same.
template <class Lane>
struct SubsetTable {
  int subset = 0;                       // places of the prefix, as bits
  int n_leading = 0;                    // places before the first gap
  bool has_information = false;         // one place is missing (n_leading): the information without it is needed
  std::array<int, kMaxPrefix> inner{};  // places after the gap
  int n_inner = 0;
  Places stride{};                   // of each inner place in the entries
  Places tile_stride{};              // of each place in entries kept for a whole tile, for all first places
  Index n_tile_entries = 1;          // such entries
  Index n_patterns = 1;              // of an entry
  AlignedBuffer<Lane> lanes;         // entries * patterns * pattern_size
  std::vector<Count> ones;           // entries * patterns * ones: samples that have the pattern
  AlignedBuffer<float> information;  // entries * kLanes, lower bounds

  SubsetTable(int subset_, int n_prefix) : subset(subset_), n_leading(std::countr_one(static_cast<unsigned>(subset_))) {
    has_information = std::popcount(static_cast<unsigned>(subset)) == n_prefix - 1;
    for (int place = n_leading; place < n_prefix; ++place) {
      if (subset >> place & 1) inner[n_inner++] = place;
    }
  }

  int last_place() const { return std::bit_width(static_cast<unsigned>(subset)) - 1; }

  // pattern_size, n_ones: how many counts with lanes, how many numbers of samples a pattern has.
  void make_room(const Places& size, const Places& n_levels, Index pattern_size, Index n_ones) {
    Index n_entries = n_tile_entries = n_patterns = 1;
    for (int place = last_place(); place >= 0; --place) {
      if (!(subset >> place & 1)) continue;
      n_patterns *= n_levels[place] - 1;
      tile_stride[place] = n_tile_entries;
      n_tile_entries *= size[place];
      if (place > n_leading) {
        stride[place] = n_entries;
        n_entries *= size[place];
      }
    }
    lanes.resize(n_entries * n_patterns * pattern_size);
    ones.resize(static_cast<std::size_t>(n_entries * n_patterns * n_ones));
    if (has_information) information.resize(n_entries * kLanes);
  }
};

// Where a subset of the prefix, as it is chosen, is found: in its own table, or, since places of a tile may share a
// block, in that of another subset. The latter has fewer places before its gap, and so is filled less often.
template <class Lane>
struct SubsetEntries {
  SubsetTable<Lane>* table = nullptr;
  Places stride{}, tile_stride{};  // of the subset's places, in that table

  Index entry(const Places& local) const { return summed(stride, local); }
  Index tile_entry(const Places& local) const { return summed(tile_stride, local); }

 private:
  static Index summed(const Places& stride, const Places& local) {
    Index sum = 0;
    for (int place = 0; place < kMaxPrefix; ++place) sum += stride[place] * local[place];
    return sum;
  }
};

// The entries of `subset` in the tables of a tile, where places with the same `block` hold variables of one block: each
// member stands for the last place of its block that the next member leaves free.
template <class Lane>
SubsetEntries<Lane> find_subset(int subset, int n_prefix, const Places& block, std::vector<SubsetTable<Lane>>& tables) {
  std::array<int, kMaxPrefix> stands_for{};
  int as_late = 0;
  int free = n_prefix - 1;
  for (int place = n_prefix - 1; place >= 0; --place) {
    if (!(subset >> place & 1)) continue;
    while (block[free] != block[place]) --free;
    stands_for[place] = free;
    as_late |= 1 << free;
    --free;
  }
  SubsetEntries<Lane> entries;
  entries.table = &tables[as_late];
  for (int place = 0; place < n_prefix; ++place) {
    if (!(subset >> place & 1)) continue;
    entries.stride[place] = entries.table->stride[stands_for[place]];
    entries.tile_stride[place] = entries.table->tile_stride[stands_for[place]];
  }
  return entries;
}

}  // namespace interplay
