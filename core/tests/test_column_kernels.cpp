// Loops over bits and values, for every instruction set, against plain ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "interplay/column_kernels.hpp"
#include "interplay/rank_values.hpp"
#include "interplay/simd_level.hpp"
#include "kernels/lane_kernels.hpp"
#include "tests.hpp"

using namespace interplay;

namespace {

// The kernels of every instruction set, on columns of all lengths, against plain loops.
template <class Value>
void test_column_kernels_of(std::mt19937& rng, const ColumnKernels<Value>& kernels, const char* name) {
  for (const Index n : {1, 63, 64, 65, 500, 40000}) {
    std::vector<Value> values(static_cast<std::size_t>(n));
    for (Value& value : values) value = static_cast<Value>(static_cast<int>(rng() % 200) - 100);
    const Value low = -3, high = 5;
    const auto inside = [&](Value value) { return low <= value && value <= high; };
    const ApartCounts apart = kernels.count_apart(values.data(), n, low, high);
    const bool counted = apart.below == std::count_if(values.begin(), values.end(), [&](Value v) { return v < low; }) &&
                         apart.above == std::count_if(values.begin(), values.end(), [&](Value v) { return v > high; });
    check(counted, "values counted on either side", name);
    std::vector<Value> gathered(values.size() + 1), expected;
    std::copy_if(values.begin(), values.end(), std::back_inserter(expected), inside);
    gathered.resize(static_cast<std::size_t>(kernels.gather(values.data(), n, low, high, gathered.data())));
    check(gathered == expected, "values gathered", name);
    std::vector<Word> bits(static_cast<std::size_t>((n + 63) / 64));
    kernels.mark_above(values.data(), n, low, bits.data());
    bool marked = true;
    for (Index i = 0; i < n; ++i) marked &= (bits[i / 64] >> (i % 64) & 1) == (values[i] > low);
    check(marked && (n % 64 == 0 || bits.back() >> (n % 64) == 0), "values marked", name);
    check(!kernels.has_nan(values.data(), n), "no NaN", name);
    RankValues<Value> of_row(kernels);
    std::vector<Value> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const Index ranks[] = {0, n / 3, n / 2, n - 1};
    Value found[4];
    const bool is_found = of_row(values.data(), n, ranks, 4, found);
    for (int r = 0; r < 4; ++r) check(is_found && found[r] == sorted[ranks[r]], "value at a rank", name);
    if constexpr (std::numeric_limits<Value>::has_quiet_NaN) {
      values.back() = std::numeric_limits<Value>::quiet_NaN();
      check(kernels.has_nan(values.data(), n) && !of_row(values.data(), n, ranks, 4, found), "NaN", name);
    }
  }
}

template <class Value>
void test_column_kernels_for(std::mt19937& rng) {
  test_column_kernels_of(rng, column_kernels_portable<Value>(), "portable columns");
  test_column_kernels_of(rng, column_kernels<Value>(), "best columns");
}

}  // namespace

void test_transpose(std::mt19937& rng) {
  for (const SimdLevel level : available_simd_levels()) {
    alignas(32) Word lanes[kLanes], overwritten[kLanes], rows[64 * kWordsPerRow];
    for (Index lane = 0; lane < kLanes; ++lane) overwritten[lane] = lanes[lane] = Word{rng()} << 32 | rng();
    lane_kernels(level).transpose(overwritten, rows);
    bool is_right = true;
    for (int lane = 0; lane < kLanes; ++lane) {
      const int bit = bit_of_lane(lane);
      for (int sample = 0; sample < 64; ++sample) {
        const Word there = rows[sample * kWordsPerRow + bit / 64] >> bit % 64 & 1;
        is_right = is_right && (lanes[lane] >> sample & 1) == there;
      }
    }
    check(is_right, "lanes become rows of samples", name_of(level));
  }
}

void test_column_kernels(std::mt19937& rng) {
  test_column_kernels_for<double>(rng);
  test_column_kernels_for<float>(rng);
  test_column_kernels_for<std::int16_t>(rng);
  test_column_kernels_for<std::int32_t>(rng);
  test_column_kernels_for<std::int64_t>(rng);
}
