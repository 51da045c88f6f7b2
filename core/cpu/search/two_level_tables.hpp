// What a two-level search knows of the sub-tuples of a tile.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "rows/sample_lists.hpp"
#include "rows/two_level_data.hpp"

namespace interplay {

// Values of vertices are spread out in steps, which may read beyond the last.
inline constexpr Index kReadBeyond = 16;

using Places = std::array<Index, kMaxPrefix>;

// Counts of a subset of the prefix with every lane, for all variables that its places may hold while those before the
// first gap stay as they are.
struct SubsetTable {
  int subset = 0;                       // places of the prefix, as bits
  int n_leading = 0;                    // places before the first gap
  bool has_information = false;         // one place is missing: the information without it is needed
  std::array<int, kMaxPrefix> inner{};  // places after the gap
  int n_inner = 0;
  Places stride{};                   // of each place in the entries
  AlignedBuffer<ClassCounts> lanes;  // entries * families * kLanes
  AlignedBuffer<float> information;  // entries * kLanes, lower bounds
  std::vector<ClassCounts> ones;     // entries: samples in which the subset is 1
  // Pairs only: counts with every vertex. They are kept for a tile, since each of its chunks needs them, and so are for
  // all variables that the places before the gap may hold, too.
  Places vertex_stride{};
  AlignedBuffer<ClassCounts> vertices;       // vertex entries * vertices
  std::vector<std::uint8_t> vertices_known;  // vertex entries

  SubsetTable(int subset_, int n_prefix) : subset(subset_), n_leading(std::countr_one(static_cast<unsigned>(subset_))) {
    has_information = std::popcount(static_cast<unsigned>(subset)) == n_prefix - 1;
    for (int place = n_leading; place < n_prefix; ++place) {
      if (subset >> place & 1) inner[n_inner++] = place;
    }
  }

  void make_room(const Places& size, int n_families, Index n_vertices) {
    Index n_entries = 1;
    stride.fill(0);
    for (int i = n_inner - 1; i >= 0; --i) {
      stride[inner[i]] = n_entries;
      n_entries *= size[inner[i]];
    }
    lanes.resize(n_entries * n_families * kLanes);
    if (has_information) information.resize(n_entries * kLanes);
    ones.resize(static_cast<std::size_t>(n_entries));
    if (n_vertices == 0) return;
    vertex_stride = stride;
    for (int place = n_leading - 1; place >= 0; --place) {
      vertex_stride[place] = n_entries;
      n_entries *= size[place];
    }
    vertices.resize(n_entries * n_vertices + kReadBeyond);
    vertices_known.assign(static_cast<std::size_t>(n_entries), 0);
  }
};

// Where a subset of the prefix, as it is chosen, is found: in its own table, or, since places of a tile may share a
// block, in that of another subset. The latter has fewer places before its gap, and so is filled less often.
struct SubsetEntries {
  SubsetTable* table = nullptr;
  Places stride{}, vertex_stride{};  // of the subset's places, in that table

  Index entry(const Places& local) const { return summed(stride, local); }
  Index vertex_entry(const Places& local) const { return summed(vertex_stride, local); }

 private:
  static Index summed(const Places& stride, const Places& local) {
    Index sum = 0;
    for (int place = 0; place < kMaxPrefix; ++place) sum += stride[place] * local[place];
    return sum;
  }
};

// The entries of `subset` in the tables of a tile, where places with the same `block` hold variables of one block: each
// member stands for the last place of its block that the next member leaves free.
inline SubsetEntries find_subset(int subset, int n_prefix, const Places& block, std::vector<SubsetTable>& tables) {
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
  SubsetEntries entries;
  entries.table = &tables[as_late];
  for (int place = 0; place < n_prefix; ++place) {
    if (!(subset >> place & 1)) continue;
    entries.stride[place] = entries.table->stride[stands_for[place]];
    entries.vertex_stride[place] = entries.table->vertex_stride[stands_for[place]];
  }
  return entries;
}

// What is known of the whole prefix with each vertex; pairs only. Kept for a tile, since each of its chunks needs it.
struct VertexTable {
  Places stride{};
  AlignedBuffer<ClassCounts> counts;   // entries * vertices
  AlignedBuffer<float> information;    // entries * vertices
  std::vector<std::uint8_t> known;     // entries
  AlignedBuffer<ListedSamples> lists;  // entries
  std::vector<std::uint8_t> lists_kept;

  void make_room(const Places& size, int n_prefix, Index n_vertices) {
    Index n_entries = 1;
    for (int place = n_prefix - 1; place >= 0; --place) {
      stride[place] = n_entries;
      n_entries *= size[place];
    }
    counts.resize(n_entries * n_vertices + kReadBeyond);
    information.resize(n_entries * n_vertices + kReadBeyond);
    known.assign(static_cast<std::size_t>(n_entries), 0);
    lists.resize(n_entries);
    lists_kept.assign(static_cast<std::size_t>(n_entries), 0);
  }

  Index entry(const Places& local, int n_prefix) const {
    Index sum = 0;
    for (int place = 0; place < n_prefix; ++place) sum += local[place] * stride[place];
    return sum;
  }
};

}  // namespace interplay
