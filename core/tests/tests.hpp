// The tests of test_core. Tests draw from one generator, one after the other.
#pragma once

#include <initializer_list>
#include <random>

#include "interplay/types.hpp"

// test_by_hand.cpp
void test_against_count_by_hand(std::mt19937& rng);
void test_ties(std::mt19937& rng);
void test_count_tables(std::mt19937& rng);

// test_two_level_tiles.cpp
void test_two_level_tiles(std::mt19937& rng, std::initializer_list<double> shares, interplay::Index last_block = 4);

// test_level_tiles.cpp
void test_level_tiles(std::mt19937& rng, std::initializer_list<interplay::Index> numbers_of_classes,
                      interplay::Index n_samples = 420);
void test_small_cell_tiles(std::mt19937& rng);

// test_numbers.cpp
void test_weighted_popcounts(std::mt19937& rng);
void test_sum_information(std::mt19937& rng);
void test_number_tiles(std::mt19937& rng);

// test_callers.cpp
void test_callers_at_once();
void test_long_search();

// test_column_kernels.cpp
void test_transpose(std::mt19937& rng);
void test_column_kernels(std::mt19937& rng);

// test_bounds.cpp
void test_rational_bound(std::mt19937& rng);
void test_level_bounds(std::mt19937& rng);
void test_bounds(std::mt19937& rng);

// test_small_cells.cpp
void test_small_cell_tables(std::mt19937& rng);
void test_small_cell_bounds(std::mt19937& rng);
void test_what_is_counted_in_bytes();
void test_counts_of_both_classes(std::mt19937& rng);
