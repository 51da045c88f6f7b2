#include "interplay/count_tables.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "interplay/bit_planes.hpp"
#include "kernels/tuple_counts.hpp"
#include "rows/byte_scores.hpp"

namespace interplay {
namespace {

// Samples of each cell of some members with each level of one more.
void split_cells(const BitPlanes& planes, Index row, const std::vector<Word>& cells, std::vector<Word>& split) {
  const Index n_words = planes.n_words, n_levels = planes.n_levels[row];
  split.resize(cells.size() * static_cast<std::size_t>(n_levels));
  Word* target = split.data();
  for (const Word* cell = cells.data(); cell < cells.data() + cells.size(); cell += n_words) {
    Word* rest = target;  // level 0: samples of no other level
    std::copy(cell, cell + n_words, rest);
    for (Index level = 1; level < n_levels; ++level) {
      target += n_words;
      const Word* plane = planes.plane(row, level);
      for (Index w = 0; w < n_words; ++w) {
        target[w] = cell[w] & plane[w];
        rest[w] &= ~plane[w];
      }
    }
    target += n_words;
  }
}

}  // namespace

void count_tables(const BitPlanes& planes, std::span<const Index> tuples, Index dimensions, SimdLevel level,
                  std::span<Index> counts) {
  if (tuples.empty()) return;
  const CountKernel count = count_kernel(level);
  const Index cell_size = planes.cell_size(), n_words = planes.n_words;
  const Index last = dimensions - 1, n_levels = planes.n_levels[tuples[last]];
  const SumKernel sum = sum_kernel(level);
  std::optional<ByteScores> scores;
  if (planes.of_numbers) scores.emplace(planes);
  std::vector<std::vector<Word>> cells(static_cast<std::size_t>(dimensions));  // [m]: of the first m members
  cells[0].resize(static_cast<std::size_t>(planes.n_words));
  mask_all_samples(planes, cells[0].data());
  std::vector<const Word*> of_last(static_cast<std::size_t>(n_levels));
  of_last[0] = cells[0].data();
  std::vector<Count> found;
  AlignedBuffer<Word> scratch;
  Index* table = counts.data();
  for (const Index* members = tuples.data(); members < tuples.data() + tuples.size(); members += dimensions) {
    Index shared = 0;
    if (members > tuples.data()) {
      while (shared < last && members[shared] == members[shared - dimensions]) ++shared;
    }
    for (Index m = shared; m < last; ++m) split_cells(planes, members[m], cells[m], cells[m + 1]);
    for (Index at = 1; at < n_levels; ++at) of_last[at] = planes.plane(members[last], at);
    const Index n_prefix = static_cast<Index>(cells[last].size()) / n_words, n_of_level = n_prefix * cell_size;
    found.resize(static_cast<std::size_t>(n_levels * n_of_level));
    if (scores) {
      scratch.resize(sum_scratch_words(n_prefix, n_words));
      SumJob job{cells[last].data(), n_prefix, of_last.data(), n_levels, {}, n_words, 0, found.data(), found.data() + 1,
                 2 * n_prefix,       2,        scratch.data()};
      scores->set(job);
      sum(job);
    } else {
      count({cells[last].data(), n_prefix, of_last.data(), n_levels, planes.class_word_start.data(), cell_size, n_words,
             found.data()});
    }
    // A sum is signed.
    const auto number = [&](Index i) {
      return planes.of_numbers && i % 2 ? Index{static_cast<std::int32_t>(found[i])} : Index{found[i]};
    };
    // The first were counted at any level.
    for (Index i = 0; i < n_of_level; ++i) {
      Index* of_cell = table + i / cell_size * n_levels * cell_size + i % cell_size;
      Index rest = number(i);
      for (Index at = 1; at < n_levels; ++at) rest -= of_cell[at * cell_size] = number(at * n_of_level + i);
      *of_cell = rest;
    }
    table += n_levels * n_of_level;
  }
}

}  // namespace interplay
