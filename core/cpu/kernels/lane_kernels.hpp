// The inner loops of the search through two-level, two-class data: 256 lanes are counted at a time.
//
// A tuple is a prefix and a lane. A lane is the last variable of the tuple, or the last two or three (its parts): these
// fill the registers where few variables come after a prefix.
//
// A count of ones is enough: with the counts of "all of these variables are 1" for every subset of a tuple, the other
// cells follow by subtraction. So for a fixed prefix only the samples in which the whole prefix is 1 matter. They are
// listed, and the bit rows of these samples (one bit per lane) are added up by carry-save adders.
//
// Bottleneck: bit operations of the adders, then the arithmetic of the bound. Overflow: counts are 16 bits wide and
// multiplied as signed numbers, so a class may have at most 32767 samples; larger ones have counts that are floats, the
// sums of those of blocks of samples (WideKernels).
#pragma once

#include <cstdint>

#include "interplay/simd_level.hpp"
#include "interplay/types.hpp"
#include "kernels/tuple_counts.hpp"

namespace interplay {

inline constexpr Index kLanes = 256;
inline constexpr Index kWordsPerRow = kLanes / 64;
inline constexpr Index kMaxScoredLanes = 2 * kLanes;  // that a prefix meets at once
inline constexpr Index kMaxFastClassSize = 32767;
inline constexpr int kMaxFastDimensions = 5;
inline constexpr int kMaxPrefix = kMaxFastDimensions - 1;
inline constexpr int kMaxSubsets = 1 << kMaxPrefix;

using LaneCount = std::uint16_t;

// The counts of both classes, class 0 in the lower half. A difference of two is that of both counts: none is negative.
using ClassCounts = std::uint32_t;

constexpr ClassCounts class_counts(std::int32_t class_0, std::int32_t class_1) {
  return static_cast<ClassCounts>(class_0) | static_cast<ClassCounts>(class_1) << 16;
}
constexpr std::int32_t count_of_class(ClassCounts counts, int q) {
  return static_cast<std::int32_t>(counts >> (16 * q) & 0xffff);
}

// The same in a byte each, for cells of fewer than 256 samples of a class.
using BytePair = std::uint16_t;

// The bit of a lane in its row: where registers of bytes, made from bits by shifts and masks, leave the counts in
// order.
constexpr int bit_of_lane(int lane) {
  constexpr int byte_of_quarter[4] = {0, 16, 8, 24};
  return 8 * (byte_of_quarter[lane % 32 / 8] + lane % 8) + lane / 32;
}

// Sample lists are padded to a multiple of this with the number of a row of zeros.
inline constexpr Index kListMultiple = 16;
constexpr Index padded(Index n) { return (n + kListMultiple - 1) / kListMultiple * kListMultiple; }

// last · ((x² + first·x + second)² + third·x + fourth), times D² / n: of x = δ / scale and D / scale.
struct SquaredPolynomial {
  float first, second, third, fourth, last;
};

// Constants of a search. All informations are Σ n·KL(class shares of the cell ‖ class shares of all), in bits. This is
// U(decision) − U(tuple) with the pseudocounts of the full table in both.
struct LaneModel {
  // D = scale · Σ weight · count: the sizes of the other class, reduced, that of class 0 with a minus.
  std::int16_t weights[2];
  float scale;
  float share;   // of class 0
  float pseudo;  // pseudocounts of a cell of the full table, of both classes
  // n·KL lies between D²/n · P(δ) with the lower and the upper P; D = n·δ, δ = share in the cell − share of all.
  SquaredPolynomial lower, upper;
  bool is_even;     // `first` and `third` are 0 in both
  float inflation;  // makes up for the rounding of these polynomials
  float slack;      // and for that of sums, in bits
};

// Non-empty subsets of a lane's parts are numbered like bits: 1 the first part, 2 the second, 3 both, ….
inline constexpr int kMaxParts = 3;
inline constexpr int kMaxFamilies = (1 << kMaxParts) - 1;

// The counts of a tuple's sub-tuples: with parts of the lane, and of the prefix alone.
struct LaneCounts {
  const ClassCounts* with_lane[kMaxFamilies][kMaxSubsets];  // IN [parts − 1][subset of the prefix]: per lane
  ClassCounts prefix_cells[kMaxSubsets];                    // IN samples in each cell of the prefix
};

// A lane that may beat a best gain, and the upper bound of its tuple's information: best gains rise while others of the
// same prefix are scored, and may make scoring it needless.
struct Survivor {
  std::int16_t lane;
  float bound;
};

// The lanes that a prefix meets, and the threshold that the bound of a tuple has to reach: for some member, the best
// gain so far plus the information of the tuple without that member. A screen asks for this of every member; best gains
// are then the gains that members need.
struct LanesToBeat {
  const float* without_member[kMaxPrefix];  // IN per lane: lower bound of the information without that prefix member
  float best_of_member[kMaxPrefix];         // IN best gain of each prefix member so far
  const float* without_part[kMaxParts];     // IN per lane: the same for each part of the lane
  const float* best_of_part[kMaxParts];     // IN per lane: best gain of each part so far
  bool every_member;                        // for every member, not for some
  float more_if_no_zero;                    // added to the threshold where no cell lacks a class
  int first_lane, last_lane;                // lanes to look at
  Survivor* survivors;                      // OUT room for all of them
};

struct LaneScoreJob : LanesToBeat {
  using Lane = ClassCounts;  // the count of a lane
  LaneCounts counts;
};

using ScoreKernel = int (*)(const LaneModel& model, const LaneScoreJob& job);
using InformationKernel = void (*)(const LaneModel& model, const LaneCounts& counts, int first_lane, int last_lane,
                                   float* lower);

// Any number of levels and classes, in the same way: a prefix has a count for every pattern that gives each member a
// level from 1 on or leaves it open, and level 0 follows by subtraction. A row holds a bit for each level from 1 on of
// each lane; the bits of one level are `lane_stride` apart from those of the next.
inline constexpr int kMaxLevelClasses = 16;
inline constexpr int kMaxLaneLevels = 17;  // so that a row has room for 16 lanes

// Tables for cells of fewer than 16 samples in all, of two classes: a cell with n_0 and n_1 of them has at most the
// information unit · (of_class[0][n_0] + of_class[1][n_1] + of_total[n_0 + n_1]) + of_sample[0] · n_0 + of_sample[1] ·
// n_1 + of_cell. See information/small_cells.hpp.
struct SmallCellTables {
  std::uint8_t of_class[2][16], of_total[16];
  bool same_classes;  // the tables of both classes are the same
  float unit;
  double of_sample[2], of_cell;
};

// Of a number outcome: −(N/2) · log2(1 − SS · per_square) bits, per_square = 1 / (Q + κ); see sum_information.hpp.
struct SumModel {
  float per_square, half_samples;
  float least_rest;  // 1 − SS / (Q + κ) is not below
  float slack;       // of the logarithm, in bits
};

struct LevelModel {
  int n_classes;
  float share[kMaxLevelClasses];
  float share_3[kMaxLevelClasses];  // three times that
  float pseudo;                     // pseudocounts of a cell of the full table, of all classes
  float slack, wide_slack;          // of counts of 16 bits, and of counts that are floats
  LaneModel two_classes;            // if there are two
  SmallCellTables small_cells;      // likewise
  SumModel sums;                    // of a number outcome
};

// The shape of a tuple: a prefix and a lane. The first member of the prefix varies fastest in patterns and cells, so
// that with two levels everywhere they are numbered like subsets, by bits.
struct LevelShape {
  int n_prefix;
  int levels[kMaxPrefix];  // of the prefix
  int n_patterns;          // their product
  int lane_levels;
  int lane_stride;
};

// The lanes of a register, as they lie among those of several: a run for each level from 1 on. They are counted one run
// after the other, n_lanes each (a multiple of 16), and kept `stride` apart.
struct LaneRuns {
  int n_runs, n_lanes, stride;
};

// The same by pieces of 16 lanes: where they are kept, in the order in which they are counted.
struct LanePieces {
  int n_pieces;
  int start[kLanes / 16];

  explicit LanePieces(const LaneRuns& runs) : n_pieces(runs.n_runs * runs.n_lanes / 16), start{} {
    for (int piece = 0; piece < n_pieces; ++piece) {
      start[piece] = 16 * piece / runs.n_lanes * runs.stride + 16 * piece % runs.n_lanes;
    }
  }
};

struct LevelCounts {
  LevelShape shape;
  const LaneCount* const* with_lane;  // IN [class][pattern]: (lane_levels − 1) * lane_stride counts
  const Count* prefix_cells;          // IN [class][cell of the prefix]
  LaneCount* scratch;                 // n_patterns * (lane_levels − 1) * classes * 16, 32-byte aligned
};

// Lanes have one part.
struct LevelScoreJob : LanesToBeat {
  using Lane = LaneCount;
  LevelCounts counts;
};

using LevelScoreKernel = int (*)(const LevelModel& model, const LevelScoreJob& job);

// The same for two classes, whose counts lie side by side.
struct PairedCounts {
  LevelShape shape;
  const ClassCounts* const* with_lane;  // IN [pattern]: (lane_levels − 1) * lane_stride counts
  const ClassCounts* prefix_cells;      // IN [cell of the prefix]
  ClassCounts* scratch;                 // n_patterns * (lane_levels − 1) * 16, 64-byte aligned
  // IN null, or the counts of the patterns that leave none of two members open, one after the other, which then are not
  // in with_lane. No cell of the prefix has more than 255 samples of a class.
  const BytePair* whole;
};

// The bit rows of a class, and the samples of it to count.
struct ListedRows {
  const Word* rows;
  const LaneCount* list;
  Index n_padded;
};

struct PairedScoreJob : LanesToBeat {
  using Lane = ClassCounts;
  PairedCounts counts;
};

using PairedScoreKernel = int (*)(const LevelModel& model, const PairedScoreJob& job);

struct PairedKernels {
  // Set counts to those of two classes, or add these.
  void (*put)(const LaneCount* class_0, const LaneCount* class_1, const LaneRuns& runs, ClassCounts* counts);
  void (*add)(const LaneCount* class_0, const LaneCount* class_1, const LaneRuns& runs, ClassCounts* counts);
  // Count the lanes of both classes of up to 255 samples. In bytes, counts of more samples are modulo 256.
  void (*count)(const ListedRows& class_0, const ListedRows& class_1, const LanePieces& pieces, ClassCounts* counts);
  void (*count_bytes)(const ListedRows& class_0, const ListedRows& class_1, const LanePieces& pieces, BytePair* counts);
  // Number of survivors of the bound. [members of the prefix: 1, 2, or 0 for any number][levels of all of them and of
  // the lane: 3, 4, or 0 for any]
  PairedScoreKernel score_polynomial[3][5], score_even[3][5];
  PairedScoreKernel score_rational[3];
  // The same for two members and counts in bytes, where most cells are small. [both classes have the same tables]
  PairedScoreKernel score_small_polynomial[2], score_small_even[2], score_small_rational[2];
  // Lower bound of the information of a sub-tuple, whose cells gather `multiplicity` cells of the full table.
  void (*information)(const LevelModel& model, const PairedCounts& counts, float multiplicity, int first_lane,
                      int last_lane, float* lower);

  PairedScoreKernel score_of(const LevelModel& model, const LevelShape& shape, bool polynomial) const {
    const int members = shape.n_prefix < 3 ? shape.n_prefix : 0;
    if (!polynomial) return score_rational[members];
    int levels = members && (shape.lane_levels == 3 || shape.lane_levels == 4) ? shape.lane_levels : 0;
    for (int member = 0; member < members; ++member) levels = shape.levels[member] == levels ? levels : 0;
    return (model.two_classes.is_even ? score_even : score_polynomial)[members][levels];
  }
  PairedScoreKernel score_small_of(const LevelModel& model, bool polynomial) const {
    const auto& polynomials = model.two_classes.is_even ? score_small_even : score_small_polynomial;
    return (polynomial ? polynomials : score_small_rational)[model.small_cells.same_classes];
  }
};

// The same where classes are larger than 16 bits can count: counts are floats, which hold whole numbers up to 2²⁴.
inline constexpr Index kMostSamplesOfFloats = Index{1} << 24;

struct WideCounts {
  LevelShape shape;
  const float* const* with_lane;  // IN [class][pattern]: (lane_levels − 1) * lane_stride counts
  const Count* prefix_cells;      // IN [class][cell of the prefix]
  float* scratch;                 // n_patterns * (lane_levels − 1) * classes * 16
};

struct WideScoreJob : LanesToBeat {
  using Lane = float;
  WideCounts counts;
};

using WideScoreKernel = int (*)(const LevelModel& model, const WideScoreJob& job);

struct WideKernels {
  // Set counts to those of 16 bits, or add these.
  void (*put)(const LaneCount* counts, const LaneRuns& runs, float* sums);
  void (*add)(const LaneCount* counts, const LaneRuns& runs, float* sums);
  // Number of survivors of the bound; two classes have a kernel of their own.
  WideScoreKernel score, score_two_classes;
  // Lower bound of the information of a sub-tuple, whose cells gather `multiplicity` cells of the full table.
  void (*information)(const LevelModel& model, const WideCounts& counts, float multiplicity, int first_lane,
                      int last_lane, float* lower);

  WideScoreKernel score_of(int n_classes) const { return n_classes == 2 ? score_two_classes : score; }
};

// A number outcome: in place of counts of classes a count and a sum of scores, both 32 bits wide.
struct SumCounts {
  LevelShape shape;
  const std::int32_t* const* with_lane;  // IN [count, sum][pattern]: (lane_levels − 1) * lane_stride numbers
  const Count* prefix_cells;             // IN [count, sum][cell of the prefix]
  std::int32_t* scratch;                 // 2 * n_patterns * (lane_levels − 1) * 16
};

struct SumScoreJob : LanesToBeat {
  using Lane = std::int32_t;
  SumCounts counts;
};

using SumScoreKernel = int (*)(const LevelModel& model, const SumScoreJob& job);
using SumInformationKernel = void (*)(const LevelModel& model, const SumCounts& counts, int first_lane, int last_lane,
                                      float* lower);

struct SumKernels {
  SumKernel sum_planes;  // weighted popcounts
  // Number of survivors of the bound: of any levels, or of two, by members of the prefix from 1 on.
  SumScoreKernel score, score_two_levels[kMaxPrefix];
  // Lower bound of the information of a sub-tuple; of two levels by members from 0 on.
  SumInformationKernel information_any, information_two_levels[kMaxPrefix];

  static bool has_two_levels(const LevelShape& shape) {
    for (int member = 0; member < shape.n_prefix; ++member) {
      if (shape.levels[member] != 2) return false;
    }
    return shape.lane_levels == 2;
  }
  SumScoreKernel score_of(const LevelShape& shape) const {
    return has_two_levels(shape) ? score_two_levels[shape.n_prefix - 1] : score;
  }
  void information(const LevelModel& model, const SumCounts& counts, float, int first_lane, int last_lane,
                   float* lower) const {
    const auto kernel = has_two_levels(counts.shape) ? information_two_levels[counts.shape.n_prefix] : information_any;
    kernel(model, counts, first_lane, last_lane, lower);
  }
};

struct LevelKernels {
  // Number of survivors of the bound, for any number of classes.
  LevelScoreKernel score, score_three_classes;
  // Lower bound of the information of a sub-tuple, whose cells gather `multiplicity` cells of the full table.
  void (*information)(const LevelModel& model, const LevelCounts& counts, float multiplicity, int first_lane,
                      int last_lane, float* lower);

  LevelScoreKernel score_of(int n_classes) const { return n_classes == 3 ? score_three_classes : score; }
};

struct LaneKernels {
  // 64 samples of each lane, kLanes words, → the rows of these samples. The former are overwritten; 32-byte aligned.
  void (*transpose)(Word* lanes, Word* rows);
  // List the set bits of a & b, and after them kListMultiple times `padding`; returns their number. `list` needs room
  // for 64 · n_words + kListMultiple entries.
  Index (*list_samples)(const Word* a, const Word* b, Index n_words, LaneCount padding, LaneCount* list);
  // The same with numbers that count the set bits of `mask` only; n_bytes of these in a word are enough.
  Index (*list_within)(const Word* plane, const Word* mask, Index n_words, int n_bytes, LaneCount padding,
                       LaneCount* list);
  // Add up the rows of the listed samples. The list is padded; rows: n_rows * kWordsPerRow words, 32-byte aligned.
  void (*count_lanes)(const Word* rows, const LaneCount* list, Index n_padded, LaneCount* counts);
  // The counts of two classes side by side, for kLanes lanes.
  void (*join_classes)(const LaneCount* class_0, const LaneCount* class_1, ClassCounts* counts);
  // [parts of the lane][members of the prefix]: number of survivors of the bound.
  ScoreKernel score_polynomial[kMaxParts + 1][kMaxPrefix + 1];
  // The same where the polynomials are even.
  ScoreKernel score_even[kMaxParts + 1][kMaxPrefix + 1];
  // The same with another bound, for decisions so unbalanced that polynomials are loose.
  ScoreKernel score_rational[kMaxParts + 1][kMaxPrefix + 1];
  // [parts][members]: lower bound of the information of a sub-tuple, for some lanes.
  InformationKernel information_polynomial[kMaxParts + 1][kMaxPrefix + 1];
  InformationKernel information_even[kMaxParts + 1][kMaxPrefix + 1];
  InformationKernel information_rational[kMaxParts + 1][kMaxPrefix + 1];
  LevelKernels levels;
  PairedKernels paired;
  WideKernels wide;
  SumKernels sums;

  ScoreKernel score_of(const LaneModel& model, bool polynomial, int n_parts, int n_prefix) const {
    const auto& polynomials = model.is_even ? score_even : score_polynomial;
    return (polynomial ? polynomials : score_rational)[n_parts][n_prefix];
  }
  InformationKernel information_of(const LaneModel& model, bool polynomial, int n_parts, int n_members) const {
    const auto& polynomials = model.is_even ? information_even : information_polynomial;
    return (polynomial ? polynomials : information_rational)[n_parts][n_members];
  }
};

const LaneKernels& lane_kernels(SimdLevel level);
const LaneKernels& lane_kernels_portable();
const LaneKernels& lane_kernels_avx2();
const LaneKernels& lane_kernels_avx512();
const LaneKernels& lane_kernels_neon();

}  // namespace interplay
