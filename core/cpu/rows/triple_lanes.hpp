// The triples, pairs and single variables of a small block as lanes: all of them fit two registers of bits. How values
// per pair and per variable spread out to triples, and those per variable to pairs.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "rows/two_level_data.hpp"

namespace interplay {

// Of 14 variables there are 364 triples and 91 pairs.
inline constexpr Index kMaxTripleBlock = 14;
inline constexpr Index kMinTripleBlock = 4;  // with fewer, most of a register would be empty

// Where they begin among the lanes: at multiples of eight, which registers of counts hold.
inline constexpr Index kPairsBegin = 368;
inline constexpr Index kSinglesBegin = 464;

// Values are spread out in steps of this many lanes, which may read and write beyond the last.
inline constexpr Index kSpreadStep = 8;
inline constexpr Index kTripleRoom = kPairsBegin + kSpreadStep;
inline constexpr Index kPairRoom = kSinglesBegin - kPairsBegin + kSpreadStep;

class TripleLanes {
 public:
  TripleLanes(const SearchProblem& problem, const TwoLevelData& data, const LaneKernels& kernels)
      : problem_(problem), data_(data), kernels_(kernels) {}

  // All of the variables at places `begin` … `end` − 1; triples in order of their first, second, third variable.
  // members: OUT row numbers of each triple's variables
  void set_up(Index begin, Index end, LaneMembers& members) {
    begin_ = begin;
    n_vars_ = static_cast<int>(end - begin);
    std::array<std::array<LanePlanes, 3>, 2> lanes{};
    const auto add_lane = [&](Index lane, std::initializer_list<int> vars) {
      int part = 0;
      for (const int var : vars) lanes[lane / kLanes][part++][lane % kLanes] = plane_of(var);
    };
    n_pairs = 0;
    n_triples = 0;
    for (int a = 0; a < n_vars_; ++a) {
      add_lane(kSinglesBegin + a, {a});
      first_pair_[a] = n_pairs;
      for (int b = a + 1; b < n_vars_; ++b) add_lane(kPairsBegin + n_pairs++, {a, b});
    }
    fans_.clear();
    for (int a = 0; a < n_vars_; ++a) {
      first_triple_[a] = n_triples;
      for (int b = a + 1; b + 1 < n_vars_; ++b) {
        fans_.push_back({n_triples, n_vars_ - b - 1, a, b, pair(a, b), pair(a, b + 1), pair(b, b + 1)});
        for (int c = b + 1; c < n_vars_; ++c) {
          members[n_triples] = {row_of(a), row_of(b), row_of(c)};
          add_lane(n_triples++, {a, b, c});
        }
      }
    }
    for (int half = 0; half < 2; ++half) {
      rows_[half].resize(data_.layout().n_words);
      fill_sample_rows(problem_.planes, data_.layout(), kernels_, lanes[half], rows_[half].data());
    }
  }

  // The bit rows of the first and of the last 256 lanes.
  const Word* rows(int half) const { return rows_[half].data(); }

  // The first triple, pair, whose variables all come after `place` in the order.
  int first_triple_after(Index place) const { return first_after(first_triple_, n_triples, place); }
  int first_pair_after(Index place) const { return first_after(first_pair_, n_pairs, place); }

  // Values per variable → values per pair, of its first and of its second variable.
  template <class T>
  void spread_to_pairs(const T* of_var, T* of_first, T* of_second) const {
    for (int a = 0; a + 1 < n_vars_; ++a) {
      const int n = n_vars_ - a - 1;
      for (int i = 0; i < n; i += kSpreadStep) {
        fill_step(of_first + first_pair_[a] + i, of_var[a]);
        copy_step(of_second + first_pair_[a] + i, of_var + a + 1 + i);
      }
    }
  }

  // Values per variable → values per triple, of its first, second, third variable; from some triple on.
  template <class T>
  void spread_to_triples(const T* of_var, int from, T* of_first, T* of_second, T* of_third) const {
    in_steps(from, [&](const Fan& fan, int i) {
      fill_step(of_first + fan.triple + i, of_var[fan.first]);
      fill_step(of_second + fan.triple + i, of_var[fan.second]);
      copy_step(of_third + fan.triple + i, of_var + fan.second + 1 + i);
    });
  }

  // Values per pair → values per triple, of its first and second variable, first and third, second and third.
  template <class T>
  void spread_pairs(const T* of_pair, int from, T* of_12, T* of_13, T* of_23) const {
    in_steps(from, [&](const Fan& fan, int i) {
      fill_step(of_12 + fan.triple + i, of_pair[fan.pair_12]);
      copy_step(of_13 + fan.triple + i, of_pair + fan.pair_13 + i);
      copy_step(of_23 + fan.triple + i, of_pair + fan.pair_23 + i);
    });
  }

  int n_triples = 0, n_pairs = 0;

 private:
  // Triples that share their first two variables: consecutive third ones.
  struct Fan {
    int triple, n_triples;
    int first, second;
    int pair_12, pair_13, pair_23;  // of the first triple; the latter two are consecutive, too
  };

  using Starts = std::array<int, kMaxTripleBlock>;

  Index row_of(int var) const { return problem_.blocks.order[begin_ + var]; }
  const Word* plane_of(int var) const { return problem_.planes.plane(row_of(var), 1); }
  int pair(int a, int b) const { return first_pair_[a] + b - a - 1; }

  int first_after(const Starts& start, int n, Index place) const {
    const Index first = std::max<Index>(place + 1 - begin_, 0);
    return first < n_vars_ ? start[first] : n;
  }

  // Steps may write over the lanes of the next fan: that comes later.
  template <class Step>
  void in_steps(int from, Step step) const {
    for (const Fan& fan : fans_) {
      if (fan.triple < from) continue;
      for (int i = 0; i < fan.n_triples; i += kSpreadStep) step(fan, i);
    }
  }

  template <class T>
  static void fill_step(T* target, T value) {
    std::fill_n(target, kSpreadStep, value);
  }
  template <class T>
  static void copy_step(T* target, const T* source) {
    std::memcpy(target, source, kSpreadStep * sizeof(T));
  }

  const SearchProblem& problem_;
  const TwoLevelData& data_;
  const LaneKernels& kernels_;
  Index begin_ = -1;
  int n_vars_ = 0;
  Starts first_pair_{}, first_triple_{};  // by first variable
  std::vector<Fan> fans_;
  std::array<AlignedBuffer<Word>, 2> rows_;
};

}  // namespace interplay
