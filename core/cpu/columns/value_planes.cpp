#include "interplay/value_planes.hpp"

namespace interplay {

ClassBits::ClassBits(std::span<const Index> sample_order, std::span<const Index> class_sizes,
                     std::span<const Index> class_word_start)
    : n_words_((static_cast<Index>(sample_order.size()) + 63) / 64), moved_(static_cast<std::size_t>(n_words_)) {
  const std::size_t n_words = moved_.size();
  const Index* sample = sample_order.data();
  for (std::size_t q = 0; q < class_sizes.size(); ++q) {
    OfClass& of_class = classes_.emplace_back();
    of_class.end_word = class_word_start[q + 1];
    of_class.members.resize(n_words);
    for (auto& movers : of_class.movers) movers.resize(n_words);
    const Index* const end = sample + class_sizes[q];
    Index next = class_word_start[q] * 64;
    for (Index w = 0; w < n_words_; ++w) {
      of_class.places.push_back({next / 64, static_cast<int>(next % 64)});
      for (Index n_before = 0; sample < end && *sample < (w + 1) * 64; ++sample, ++n_before, ++next) {
        Index bit = *sample % 64;
        of_class.members[w] |= Word{1} << bit;
        // Each move makes up one binary digit of the distance.
        const Index distance = bit - n_before;
        for (int move = 0; move < kMoves; ++move) {
          const Index by = distance & (Index{1} << move);
          if (by) of_class.movers[move][w] |= Word{1} << bit;
          bit -= by;
        }
      }
    }
  }
}

template <class Value>
void ClassBits::put_in_order(const ColumnKernels<Value>& kernels, const Word* bits, Word* plane) {
  for (const OfClass& of_class : classes_) {
    const Word* movers[kMoves];
    for (int move = 0; move < kMoves; ++move) movers[move] = of_class.movers[move].data();
    kernels.move_together(bits, of_class.members.data(), movers, n_words_, moved_.data());
    for (Index w = 0; w < n_words_; ++w) {
      const auto [word, bit] = of_class.places[w];
      if (word == of_class.end_word) break;
      plane[word] |= moved_[w] << bit;
      if (word + 1 < of_class.end_word) plane[word + 1] |= moved_[w] >> 1 >> (63 - bit);
    }
  }
}

template <class Value>
void pack_value_planes(const Value* values, Index n_rows, Index n_samples, const Value* thresholds, Index n_thresholds,
                       ClassBits& order, Index n_words, Word* planes) {
  const ColumnKernels<Value>& kernels = column_kernels<Value>();
  std::vector<Word> above(static_cast<std::size_t>(order.n_words())), above_next(above.size());
  for (Index row = 0; row < n_rows; ++row, values += n_samples, thresholds += n_thresholds) {
    kernels.mark_above(values, n_samples, thresholds[0], above.data());
    for (Index t = 0; t < n_thresholds; ++t, planes += n_words) {
      if (t + 1 < n_thresholds) {
        kernels.mark_above(values, n_samples, thresholds[t + 1], above_next.data());
        for (std::size_t w = 0; w < above.size(); ++w) above[w] &= ~above_next[w];
      }
      order.put_in_order(kernels, above.data(), planes);
      above.swap(above_next);
    }
  }
}

template void pack_value_planes(const double*, Index, Index, const double*, Index, ClassBits&, Index, Word*);
template void pack_value_planes(const float*, Index, Index, const float*, Index, ClassBits&, Index, Word*);
template void pack_value_planes(const std::int8_t*, Index, Index, const std::int8_t*, Index, ClassBits&, Index, Word*);
template void pack_value_planes(const std::uint8_t*, Index, Index, const std::uint8_t*, Index, ClassBits&, Index,
                                Word*);
template void pack_value_planes(const std::int16_t*, Index, Index, const std::int16_t*, Index, ClassBits&, Index,
                                Word*);
template void pack_value_planes(const std::int32_t*, Index, Index, const std::int32_t*, Index, ClassBits&, Index,
                                Word*);
template void pack_value_planes(const std::int64_t*, Index, Index, const std::int64_t*, Index, ClassBits&, Index,
                                Word*);

}  // namespace interplay
