// Searches of several callers at once, and one that takes long.
#include <algorithm>
#include <array>
#include <limits>
#include <thread>
#include <vector>

#include "check.hpp"
#include "interplay/rank_values.hpp"
#include "searches.hpp"
#include "tests.hpp"

namespace {

template <class Work>
void at_once(int n_threads, const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n_threads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

// As threads of Python do it, which hold no lock meanwhile: rows of one array are packed, ranks are looked for, and the
// same planes are searched, by several callers with several threads each.
void test_callers_at_once() {
  std::mt19937 rng(7);
  constexpr int kCallers = 4;
  for (const Index max_levels : {2, 4}) {
    const Data data = make_data(rng, 700, 14, 1, 2, 3, max_levels);
    const Packed packed = pack(data);
    std::vector<Word> words(packed.words.size(), 0);
    std::vector<Index> sample_order;
    std::vector<std::uint8_t> codes;
    for (Index q = 0; q < data.n_classes; ++q) {
      for (Index i = 0; i < data.n_samples; ++i) {
        if (data.decision[i] == q) sample_order.push_back(i);
      }
    }
    for (const auto& column : data.codes) codes.insert(codes.end(), column.begin(), column.end());
    at_once(kCallers, [&](int caller) {
      const Index first = data.n_rows() * caller / kCallers, last = data.n_rows() * (caller + 1) / kCallers;
      pack_bit_planes(codes, sample_order, data.sizes, packed.class_word_start, packed.plane_start, first, last, words);
    });
    check(words == packed.words, "planes packed by several threads", "bit_planes");

    std::vector<double> values(2 * 3000);
    for (double& value : values) value = static_cast<double>(rng() % 1000);
    const std::array<Index, 2> ranks{700, 2200};
    std::array<std::array<double, 2>, kCallers> at_ranks{};
    at_once(kCallers, [&](int caller) {
      RankValues<double> of_row;
      of_row(values.data() + caller % 2 * 3000, 3000, ranks.data(), 2, at_ranks[caller].data());
    });
    check(at_ranks[0] == at_ranks[2] && at_ranks[1] == at_ranks[3], "ranks found by several threads", "rank_values");

    for (const SimdLevel level : available_simd_levels()) {
      const Found expected = search(data, packed, level, 1, true);
      std::array<Found, kCallers> found;
      at_once(kCallers, [&](int caller) { found[caller] = search(data, packed, level, 3, caller % 2 == 0); });
      for (const Found& one : found) check(one == expected, "several searches at once", name_of(level));
    }
  }
}

// Long enough, under ThreadSanitizer, that threads hand in their maxima while others are still searching.
void test_long_search() {
  std::mt19937 rng(7);
  const Data data = make_data(rng, 700, 80, 1, 2, 3, 2);
  const Packed packed = pack(data);
  const Found expected = search(data, packed, SimdLevel::serial, 3, true);
  check(search(data, packed, available_simd_levels().back(), 3, false) == expected, "long searches", "threads");
}
