// values and thresholds → bit planes, without codes in between
#pragma once

#include <array>
#include <vector>

#include "interplay/column_kernels.hpp"

namespace interplay {

// Where the bits of samples go when samples are put in the order of their classes. Of every word, the bits of a class
// are moved together, and put behind those of the words before.
class ClassBits {
 public:
  // sample_order: IN the samples of class 0, then of class 1, …, ascending in each
  ClassBits(std::span<const Index> sample_order, std::span<const Index> class_sizes,
            std::span<const Index> class_word_start);

  // Words of bits in the samples' own order.
  Index n_words() const { return n_words_; }
  // bits: IN n_words(); plane: OUT, zeroed by the caller
  template <class Value>
  void put_in_order(const ColumnKernels<Value>& kernels, const Word* bits, Word* plane);

 private:
  struct Place {
    Index word;  // of the plane
    int bit;
  };
  struct OfClass {
    std::vector<Word> members;
    std::array<std::vector<Word>, kMoves> movers;
    std::vector<Place> places;  // of each word's first bit
    Index end_word;
  };

  Index n_words_;
  std::vector<OfClass> classes_;
  std::vector<Word> moved_;
};

// Codes are numbers of thresholds below a value, and every level but level 0 has a plane.
// values: IN n_rows * n_samples, none NaN; thresholds: IN n_rows * n_thresholds, ascending in each row
// planes: OUT n_rows * n_thresholds planes of n_words, zeroed by the caller
template <class Value>
void pack_value_planes(const Value* values, Index n_rows, Index n_samples, const Value* thresholds, Index n_thresholds,
                       ClassBits& order, Index n_words, Word* planes);

}  // namespace interplay
