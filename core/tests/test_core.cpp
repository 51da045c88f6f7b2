// The core against a count by hand, for every instruction set that runs here. Built with AddressSanitizer and UBSan by
// `make sanitize`; exits 1 if anything differs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "interplay/bit_planes.hpp"
#include "interplay/tuple_search.hpp"

namespace {

using namespace interplay;

int failures = 0;
int checks = 0;

void check(bool holds, const char* what, const char* where) {
  ++checks;
  if (holds) return;
  ++failures;
  std::printf("FAILED %s: %s\n", where, what);
}

struct Data {
  Index n_samples, n_vars, n_contrast, n_classes, dimensions;
  std::vector<Index> levels;  // per row
  std::vector<std::vector<std::uint8_t>> codes;
  std::vector<Index> decision;
  std::vector<Index> sizes;
  double pseudocount = 0.25;

  Index n_rows() const { return n_vars + n_contrast; }
};

Data make_data(std::mt19937& rng, Index n_samples, Index n_vars, Index n_contrast, Index n_classes, Index dimensions,
               Index max_levels) {
  Data data{n_samples, n_vars, n_contrast, n_classes, dimensions, {}, {}, {}, std::vector<Index>(n_classes, 0)};
  for (Index i = 0; i < n_samples; ++i) {
    const Index q = i < n_classes ? i : static_cast<Index>(rng() % n_classes);  // no class is empty
    data.decision.push_back(q);
    ++data.sizes[q];
  }
  for (Index row = 0; row < data.n_rows(); ++row) {
    const Index c = 2 + static_cast<Index>(rng() % (max_levels - 1));
    data.levels.push_back(c);
    std::vector<std::uint8_t> column;
    for (Index i = 0; i < n_samples; ++i) column.push_back(static_cast<std::uint8_t>(rng() % c));
    data.codes.push_back(column);
  }
  return data;
}

// U of a table given as counts per (cell, class), straight from the formula.
double entropy(const std::map<std::vector<Index>, std::vector<double>>& table) {
  double sum = 0;
  for (const auto& [cell, counts] : table) {
    double total = 0;
    for (const double n : counts) total += n;
    for (const double n : counts) sum -= n * std::log2(n / total);
  }
  return sum;
}

double gain_by_hand(const Data& data, const std::vector<Index>& tuple, Index member) {
  const Index smallest = *std::min_element(data.sizes.begin(), data.sizes.end());
  std::map<std::vector<Index>, std::vector<double>> full, summed;
  std::vector<Index> cell(tuple.size(), 0);
  while (true) {  // every cell of the table, the empty ones included
    std::vector<double> counts;
    for (Index q = 0; q < data.n_classes; ++q) {
      counts.push_back(data.pseudocount * static_cast<double>(data.sizes[q]) / static_cast<double>(smallest));
    }
    for (Index i = 0; i < data.n_samples; ++i) {
      bool inside = true;
      for (std::size_t m = 0; m < tuple.size(); ++m) inside = inside && data.codes[tuple[m]][i] == cell[m];
      if (inside) counts[data.decision[i]] += 1;
    }
    full[cell] = counts;
    std::vector<Index> rest = cell;
    rest.erase(rest.begin() + member);
    auto& target = summed.try_emplace(rest, std::vector<double>(data.n_classes, 0.0)).first->second;
    for (Index q = 0; q < data.n_classes; ++q) target[q] += counts[q];
    std::size_t place = 0;
    while (place < tuple.size() && ++cell[place] == data.levels[tuple[place]]) cell[place++] = 0;
    if (place == tuple.size()) break;
  }
  return entropy(summed) - entropy(full);
}

struct Found {
  std::vector<double> gain;
  std::vector<Index> discretization, tuples;
  bool operator==(const Found&) const = default;
};

struct Packed {
  std::vector<Word> words;
  std::vector<Index> plane_start{0}, class_word_start{0};
  Index n_words = 0;
};

Packed pack(const Data& data) {
  Packed packed;
  for (const Index c : data.levels) packed.plane_start.push_back(packed.plane_start.back() + c - 1);
  for (const Index size : data.sizes) {
    packed.class_word_start.push_back(packed.class_word_start.back() + (size + 511) / 512 * kWordsPerBlock);
  }
  packed.n_words = packed.class_word_start.back();
  packed.words.assign(packed.plane_start.back() * packed.n_words, 0);
  std::vector<Index> bit, next(data.n_classes, 0);
  for (const Index q : data.decision) bit.push_back(packed.class_word_start[q] * 64 + next[q]++);
  std::vector<std::uint8_t> codes;
  for (const auto& column : data.codes) codes.insert(codes.end(), column.begin(), column.end());
  pack_bit_planes(codes, bit, packed.plane_start, packed.n_words, 0, data.n_rows(), packed.words);
  return packed;
}

// One block per variable: every tile is one tuple, so the test needs no tiling code of its own.
Found search(const Data& data, const Packed& packed, SimdLevel level, int n_threads) {
  std::vector<Index> order, block_start{0};
  for (Index row = 0; row < data.n_rows(); ++row) {
    order.push_back(row);
    block_start.push_back(row + 1);
  }
  std::vector<std::int32_t> tiles;
  std::vector<Index> cells;
  std::vector<std::int32_t> tuple;
  const auto add_tuples = [&](auto&& self, Index from) -> void {
    const Index size = static_cast<Index>(tuple.size());
    if (size == data.dimensions) {
      tiles.insert(tiles.end(), tuple.begin(), tuple.end());
      Index product = 1;
      for (const std::int32_t v : tuple) product *= data.levels[v];
      for (const std::int32_t v : tuple) cells.push_back(product / data.levels[v]);
      return;
    }
    // Contrast variables come last, one to a tuple.
    const Index end = size + 1 == data.dimensions ? data.n_rows() : data.n_vars;
    for (Index v = from; v < end; ++v) {
      tuple.push_back(static_cast<std::int32_t>(v));
      self(self, v + 1);
      tuple.pop_back();
    }
  };
  add_tuples(add_tuples, 0);
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());

  const std::size_t n_slots = data.n_rows() * cells.size();
  Found found{std::vector<double>(n_slots, -std::numeric_limits<double>::infinity()), std::vector<Index>(n_slots, -1),
              std::vector<Index>(n_slots * data.dimensions, -1)};
  MaxGains best{found.gain, found.discretization, found.tuples, data.dimensions};
  std::vector<std::uint8_t> done(tiles.size() / data.dimensions, 0);
  const SearchProblem problem{
      {packed.words, packed.n_words, packed.plane_start, data.levels, packed.class_word_start, data.sizes, data.n_vars},
      {order, block_start},
      {tiles, data.dimensions},
      cells,
      data.pseudocount,
      0};
  const bool all = search_max_gains(problem, {n_threads, level, [](std::uint64_t) { return true; }}, best, done);
  check(all, "all tiles done", name_of(level));

  // Every maximum is the largest gain by hand among the tuples of its group.
  if (level == SimdLevel::serial && n_threads == 1) {
    std::vector<double> expected(n_slots, -std::numeric_limits<double>::infinity());
    for (std::size_t t = 0; t < done.size(); ++t) {
      const std::vector<Index> members(tiles.begin() + t * data.dimensions, tiles.begin() + (t + 1) * data.dimensions);
      Index product = 1;
      for (const Index v : members) product *= data.levels[v];
      for (Index m = 0; m < data.dimensions; ++m) {
        const Index v = members[m];
        if (members.back() >= data.n_vars && v < data.n_vars) continue;
        const auto group = std::lower_bound(cells.begin(), cells.end(), product / data.levels[v]) - cells.begin();
        double& slot = expected[v * cells.size() + group];
        slot = std::max(slot, gain_by_hand(data, members, m));
      }
    }
    for (std::size_t slot = 0; slot < n_slots; ++slot) {
      const bool same = expected[slot] == found.gain[slot] || std::abs(expected[slot] - found.gain[slot]) < 1e-9;
      check(same, "maximum gain equals the count by hand", name_of(level));
    }
  }
  return found;
}

}  // namespace

int main() {
  std::mt19937 rng(7);
  for (const Index n_samples : {9, 63, 64, 65, 511, 512, 513, 1024}) {
    for (Index dimensions = 1; dimensions <= 5; ++dimensions) {
      const Index n_classes = 2 + static_cast<Index>(rng() % 3);
      const Index n_vars = dimensions <= 3 ? 7 : 6;
      const Data data =
          make_data(rng, n_samples, n_vars, n_samples % 2 ? 3 : 0, n_classes, dimensions, dimensions < 4 ? 4 : 2);
      const Packed packed = pack(data);
      const Found serial = search(data, packed, SimdLevel::serial, 1);
      for (const SimdLevel level : available_simd_levels()) {
        for (const int n_threads : {1, 3}) {
          check(search(data, packed, level, n_threads) == serial, "same bits as serial, one thread", name_of(level));
        }
      }
    }
  }
  std::printf("%d passed, %d failed\n", checks - failures, failures);
  return failures == 0 ? 0 : 1;
}
