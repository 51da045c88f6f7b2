// Searches, ties and tables of counts against a count by hand.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "check.hpp"
#include "interplay/count_tables.hpp"
#include "searches.hpp"
#include "tests.hpp"

void test_against_count_by_hand(std::mt19937& rng) {
  for (const Index n_samples : {9, 63, 64, 65, 511, 512, 513, 1024}) {
    for (Index dimensions = 1; dimensions <= 5; ++dimensions) {
      const Index n_classes = 2 + static_cast<Index>(rng() % 3);
      const Index n_vars = dimensions <= 3 ? 7 : 6;
      const Index max_levels = dimensions < 4 ? 4 : 2;
      const Data data = make_data(rng, n_samples, n_vars, n_samples % 2 ? 3 : 0, n_classes, dimensions, max_levels);
      const Packed packed = pack(data);
      const Found expected = search(data, packed, SimdLevel::serial, 1, true);
      for (const SimdLevel level : available_simd_levels()) {
        for (const int n_threads : {1, 3}) {
          for (const bool direct_only : {false, true}) {
            check(search(data, packed, level, n_threads, direct_only) == expected, "same bits as serial",
                  name_of(level));
          }
        }
      }
    }
  }
}

// On equal gains the lower tuple wins, also where the higher one was found before, and where the tuple without the
// member that gains has no information at all: rounding must not hide that the gains are equal.
void test_ties(std::mt19937& rng) {
  for (int repeat = 0; repeat < 300; ++repeat) {
    const Index n_levels = 2 + repeat % 2;
    Data data = make_data(rng, 100 + static_cast<Index>(rng() % 900), 3, 0, 2, 2, 2);
    data.levels = {n_levels, n_levels, n_levels};
    for (const int constant : {0, 1}) std::fill(data.codes[constant].begin(), data.codes[constant].end(), 0);
    const Packed packed = pack(data);
    const std::vector<Index> order{0, 1, 2}, start{0, 1, 2, 3}, cells{n_levels};
    for (const SimdLevel level : available_simd_levels()) {
      std::vector<double> gain(3, -std::numeric_limits<double>::infinity());
      std::vector<Index> discretization(3, -1), tuples(6, -1);
      MaxGains best{gain, discretization, tuples, 2};
      for (const std::int32_t first : {1, 0}) {
        const std::vector<std::int32_t> tile{first, 2};
        const SearchProblem problem{planes_of(data, packed), {order, start, start, start}, {tile, 2}, cells, 0.25, 0};
        std::vector<std::uint8_t> done(1, 0);
        search_max_gains(problem, {1, level, [](std::uint64_t) { return true; }}, best, done);
      }
      check(tuples[4] == 0, "the lower of two tuples with equal gains", name_of(level));
    }
  }
}

// Tables of chosen tuples, neighbours of which share their first members or not, against a count by hand.
void test_count_tables(std::mt19937& rng) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Index k = 1 + repeat % 4, n_classes = 2 + static_cast<Index>(rng() % 2);
    Data data = make_data(rng, 1 + n_classes + static_cast<Index>(rng() % 700), 8, 0, n_classes, k, 4);
    // Rows 0 and 1 have as many levels, and so have 2 and 3, 4 and 5, 6 and 7: a tuple takes one of each pair.
    for (Index row = 1; row < 8; row += 2) {
      data.levels[row] = data.levels[row - 1];
      for (std::uint8_t& code : data.codes[row]) code = static_cast<std::uint8_t>(rng() % data.levels[row]);
    }
    const Packed packed = pack(data);
    std::vector<Index> tuples;
    for (int t = 0; t < 12; ++t) {
      for (Index m = 0; m < k; ++m) tuples.push_back(2 * m + static_cast<Index>(rng() % 2));
    }
    Index n_numbers = n_classes;
    for (Index m = 0; m < k; ++m) n_numbers *= data.levels[2 * m];
    std::vector<Index> expected(12 * n_numbers, 0);
    for (Index t = 0; t < 12; ++t) {
      for (Index i = 0; i < data.n_samples; ++i) {
        Index at = 0;
        for (Index m = 0; m < k; ++m) at = at * data.levels[2 * m] + data.codes[tuples[t * k + m]][i];
        ++expected[t * n_numbers + at * n_classes + data.decision[i]];
      }
    }
    for (const SimdLevel level : available_simd_levels()) {
      std::vector<Index> counts(expected.size(), -1);
      count_tables(planes_of(data, packed), tuples, k, level, counts);
      check(counts == expected, "tables of tuples equal the count by hand", name_of(level));
    }
  }
}
