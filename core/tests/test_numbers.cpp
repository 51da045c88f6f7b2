// Number outcomes: weighted popcounts and information against plain loops, the searcher of sums against the direct one.
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "interplay/sum_information.hpp"
#include "kernels/tuple_counts.hpp"
#include "memory/aligned_buffer.hpp"
#include "searches.hpp"
#include "tests.hpp"

namespace {

void fill(std::mt19937& rng, AlignedBuffer<Word>& words, Index n) {
  words.resize(n);
  for (Index w = 0; w < n; ++w) words.data()[w] = Word{rng()} << 32 | rng();
}

// Scores of each sample, ascending: small ones, or such that need two limbs.
std::vector<std::int32_t> make_scores(std::mt19937& rng, Index n_samples, std::int32_t most) {
  std::vector<std::int32_t> scores;
  for (Index i = 0; i < n_samples; ++i) {
    scores.push_back(static_cast<std::int32_t>(rng() % static_cast<unsigned>(2 * most + 1)) - most);
  }
  std::sort(scores.begin(), scores.end());
  return scores;
}

}  // namespace

// Every instruction set, one limb and two, planes that do not fill groups of four, rows that are not flushed at once.
void test_weighted_popcounts(std::mt19937& rng) {
  for (const Index n_words : {8, 72, 136}) {
    for (const Index n_planes : {1, 4, 7}) {
      constexpr Index n_prefix = 3;
      for (const int n_limbs : {1, 2}) {
        AlignedBuffer<Word> prefix, planes, scratch;
        fill(rng, prefix, n_prefix * n_words);
        fill(rng, planes, n_planes * n_words);
        if (n_words > 8) std::fill_n(prefix.data(), n_prefix * n_words, ~Word{0});  // the largest sums
        scratch.resize(sum_scratch_words(n_prefix, n_words));
        AlignedBuffer<std::int8_t> limbs;
        limbs.resize(2 * 8 * n_words);
        for (Index i = 0; i < 2 * 8 * n_words; ++i) {
          limbs.data()[i] = static_cast<std::int8_t>(n_words > 72 ? (i % 5 == 0 ? 127 : -128) : rng());
        }
        std::vector<const Word*> pointers;
        for (Index m = 0; m < n_planes; ++m) pointers.push_back(planes.data() + m * n_words);
        std::vector<Count> counts(n_planes * n_prefix), sums(counts.size());
        const std::int8_t* second = n_limbs > 1 ? limbs.data() + 8 * n_words : nullptr;
        const SumJob job{
            prefix.data(), n_prefix,    pointers.data(), n_planes, {limbs.data(), second}, n_words, n_words - 3,
            counts.data(), sums.data(), n_prefix,        1,        scratch.data()};
        // Words that are not used have no samples.
        for (Index r = 0; r < n_prefix; ++r) std::fill_n(prefix.data() + (r + 1) * n_words - 3, 3, Word{0});
        for (const SimdLevel level : available_simd_levels()) {
          sum_kernel(level)(job);
          bool equal = true;
          for (Index m = 0; m < n_planes; ++m) {
            for (Index r = 0; r < n_prefix; ++r) {
              Count n = 0, sum = 0;
              for (Index byte = 0; byte < 8 * n_words; ++byte) {
                const Word both = prefix.data()[r * n_words + byte / 8] & pointers[m][byte / 8];
                const Count here = static_cast<Count>(std::popcount(both >> (byte % 8 * 8) & 0xff));
                const std::int32_t score = limbs.data()[byte] + (second ? 256 * second[byte] : 0);
                n += here;
                sum += here * static_cast<Count>(score);
              }
              equal = equal && counts[m * n_prefix + r] == n && sums[m * n_prefix + r] == sum;
            }
          }
          check(equal, "counts and sums are those of a loop over bytes", name_of(level));
        }
      }
    }
  }
}

void test_sum_information(std::mt19937& rng) {
  for (const double x : {1.0, 2.0, 3.0, 0.7071067811865475, 0.7071067811865476, 1e-300, 1e300, 4.611686018427388e18}) {
    check(std::abs(exact_log2(x) - std::log2(x)) <= 4e-16 * std::max(1.0, std::abs(std::log2(x))), "log2", "");
  }
  Data data = make_data(rng, 200, 2, 0, 1, 1, 2);
  data.scores = make_scores(rng, data.n_samples, 127);
  const Packed packed = pack(data);
  const SumInformation information(planes_of(data, packed), 0.25);
  double q = 0, sum = 0;
  for (const double t : data.scores) q += t * t, sum += t;
  const double n = 200, total = q * (1 + 0.25 / n), squares = sum * sum / n;
  const Count cell[] = {200, static_cast<Count>(static_cast<std::int32_t>(sum))};
  const double found = static_cast<double>(information.information(information.squares(cell, 1))) * information.unit();
  check(std::abs(found - n / 2 * std::log2(total / (total - squares))) < 1e-9, "information of one cell", "");
  const Count empty[] = {0, 0};
  check(information.squares(empty, 1) == 0, "an empty cell explains nothing", "");
}

// Lanes against the direct search, with two to five levels, contrast variables, scores of one limb and two, ties, and
// an outcome that some variables determine.
void test_number_tiles(std::mt19937& rng) {
  for (const std::int32_t most : {2, 127, 30000}) {
    for (Index dimensions = 2; dimensions <= 5; ++dimensions) {
      const Index n_vars = std::array{0, 0, 120, 40, 14, 10}[dimensions];
      Data data = make_data(rng, 330, n_vars, 4, 1, dimensions, 2);
      data.pseudocount = std::array{0.25, 1e-6, 300.0}[rng() % 3];
      data.scores = make_scores(rng, data.n_samples, most);
      for (Index row = 0; row < data.n_rows(); ++row) {
        const Index c = row < n_vars / 2 || row >= n_vars ? 2 : 2 + (row - n_vars / 2) / 7 % 4;
        data.levels[row] = c;
        for (Index i = 0; i < data.n_samples; ++i) {
          const bool follows = row % 4 == 1 && rng() % 2 == 0;
          data.codes[row][i] = static_cast<std::uint8_t>(follows ? i * c / data.n_samples : rng() % c);
        }
      }
      data.codes[2] = data.codes[1];
      std::fill(data.codes[0].begin(), data.codes[0].end(), std::uint8_t{0});
      check_level_tiles(data, dimensions < 4);
    }
  }
}
