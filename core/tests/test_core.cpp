// The core against a count by hand, for every instruction set that runs here. Built with AddressSanitizer and UBSan by
// `make sanitize`, with ThreadSanitizer by `make tsan`; exits 1 if anything differs. With the word "threads", only
// tests of several threads at once.
#include <cstdio>
#include <string_view>

#include "check.hpp"
#include "tests.hpp"

int main(int n_arguments, char** arguments) {
  std::mt19937 rng(7);
  test_callers_at_once();
  if (n_arguments > 1 && arguments[1] == std::string_view("threads")) {
    test_long_search();
    test_two_level_tiles(rng, {0.4});
    test_level_tiles(rng, {3});
    std::printf("%d passed, %d failed\n", checks - failures, failures.load());
    return failures == 0 ? 0 : 1;
  }
  test_against_count_by_hand(rng);
  test_two_level_tiles(rng, {0.5, 0.4, 0.25, 0.1});
  for (const interplay::Index last_block : {11, 14, 15}) test_two_level_tiles(rng, {0.5, 0.2}, last_block);
  test_level_tiles(rng, {2, 3, 4});
  test_level_tiles(rng, {2, 3}, 70001);
  test_small_cell_tiles(rng);
  test_weighted_popcounts(rng);
  test_sum_information(rng);
  test_number_tiles(rng);
  test_transpose(rng);
  test_column_kernels(rng);
  test_rational_bound(rng);
  test_level_bounds(rng);
  test_bounds(rng);
  test_small_cell_tables(rng);
  test_small_cell_bounds(rng);
  test_what_is_counted_in_bytes();
  test_counts_of_both_classes(rng);
  test_ties(rng);
  test_count_tables(rng);
  std::printf("%d passed, %d failed\n", checks - failures, failures.load());
  return failures == 0 ? 0 : 1;
}
