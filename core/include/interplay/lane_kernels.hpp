// The inner loops of the search through two-level, two-class data: 256 last variables ("lanes") at a time.
//
// A count of ones is enough: with the counts of "all of these variables are 1" for every subset of a tuple, the other
// cells follow by subtraction. So for a fixed prefix only the samples in which the whole prefix is 1 matter. They are
// listed, and the bit rows of these samples (one bit per lane) are added up by carry-save adders.
//
// Bottleneck: bit operations of the adders, then the arithmetic of the bound. Overflow: counts are 16 bits wide and
// differences of counts are taken as signed, so a class may have at most 32767 samples.
#pragma once

#include <cstdint>

#include "interplay/simd_level.hpp"
#include "interplay/types.hpp"

namespace interplay {

inline constexpr Index kLanes = 256;
inline constexpr Index kWordsPerRow = kLanes / 64;
inline constexpr Index kMaxFastClassSize = 32767;
inline constexpr int kMaxFastDimensions = 5;
inline constexpr int kMaxPrefix = kMaxFastDimensions - 1;
inline constexpr int kMaxSubsets = 1 << kMaxPrefix;

using LaneCount = std::uint16_t;

// Sample lists are padded to a multiple of this with the number of a row of zeros.
inline constexpr Index kListMultiple = 16;

// Constants of a search. All informations are Σ n·KL(class shares of the cell ‖ class shares of all), in bits: what
// U(decision) − U(tuple) would be with the pseudocounts of the full table in both.
struct LaneModel {
  float share;        // of class 0
  float log_scale_0;  // 1 / share
  float log_scale_1;  // 1 / (1 − share)
  float pseudo_0;     // pseudocounts of a cell of the full table
  float pseudo_1;
  float a, b, c;    // n·KL ≤ D²/n · (a + b·δ + c·δ²), D = n·δ, δ = share in the cell − share of all
  float inflation;  // makes up for the rounding of the bound
  float slack;      // and for that of sums of logarithms, in bits
};

// The counts of a tuple's sub-tuples that hold the lane, and of those that do not.
struct LaneCounts {
  const LaneCount* with_lane[2][kMaxSubsets];  // IN [class][subset of the prefix]: kLanes counts each
  std::int32_t prefix_cells[2][kMaxSubsets];   // IN [class][cell of the prefix]: samples in that cell
};

struct LaneScoreJob {
  LaneCounts counts;
  const float* without_member[kMaxPrefix];  // IN lower bound of the information without that member, per lane
  float best_of_member[kMaxPrefix];         // IN best gain of each member so far
  const float* best_of_lane;                // IN best gain of each lane so far
  float without_lane;                       // IN lower bound of the information without the lane
  int first_lane, last_lane;                // lanes to look at
  std::int16_t* survivors;                  // OUT lanes that may beat a best gain; room for kLanes
};

struct LaneKernels {
  // List the set bits of a & b; returns their number. `list` needs room for 64 · n_words + 8 entries.
  Index (*list_samples)(const Word* a, const Word* b, Index n_words, LaneCount* list);
  // Add up the rows of the listed samples. The list is padded; rows: n_rows * kWordsPerRow words, 32-byte aligned.
  void (*count_lanes)(const Word* rows, const LaneCount* list, Index n_padded, LaneCount* counts);
  // Number of survivors of the bound, by dimensions of the tuple (2 … kMaxFastDimensions).
  int (*score_bound[kMaxFastDimensions + 1])(const LaneModel& model, const LaneScoreJob& job);
  // The same with logarithms, for decisions so unbalanced that the bound is loose.
  int (*score_logarithms[kMaxFastDimensions + 1])(const LaneModel& model, const LaneScoreJob& job);
  // Lower bound of the information of a sub-tuple, by its dimensions (1 … kMaxFastDimensions − 1): kLanes floats.
  void (*information[kMaxFastDimensions])(const LaneModel& model, const LaneCounts& counts, float* lower);
};

const LaneKernels& lane_kernels(SimdLevel level);
const LaneKernels& lane_kernels_portable();
const LaneKernels& lane_kernels_avx2();
const LaneKernels& lane_kernels_avx512();

}  // namespace interplay
