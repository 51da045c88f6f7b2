// numpy arrays as the core takes them, and the checks that most functions share. Shapes are checked by the Python side;
// shapes that could corrupt memory are checked again here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <numeric>
#include <span>
#include <stdexcept>

#include "interplay/types.hpp"

namespace interplay::bindings {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> span_of(const Array<T>& array) {
  return {array.data(), array.size()};
}

inline void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// Ascending from 0 to `end`: the shape of every *_start array.
inline bool is_partition(std::span<const Index> start, Index end) {
  if (start.empty() || start.front() != 0 || start.back() != end) return false;
  for (std::size_t i = 1; i < start.size(); ++i) {
    if (start[i] < start[i - 1]) return false;
  }
  return true;
}

// Classes cut the words into whole blocks, each with room for its samples.
inline void check_classes(std::span<const Index> class_sizes, std::span<const Index> class_word_start, Index n_words) {
  require(!class_sizes.empty() && class_word_start.size() == class_sizes.size() + 1 &&
              is_partition(class_word_start, n_words),
          "class_word_start must cut the words into classes");
  for (std::size_t q = 0; q < class_sizes.size(); ++q) {
    const Index room = class_word_start[q + 1] - class_word_start[q];
    require(room % kWordsPerBlock == 0 && class_sizes[q] > 0 && class_sizes[q] <= room * 64,
            "each class must fill whole blocks of words");
  }
}

inline Index sum_of(std::span<const Index> values) { return std::accumulate(values.begin(), values.end(), Index{0}); }

// The functions that each file adds to the module.
void define_columns(nb::module_& module);
void define_information_tables(nb::module_& module);
void define_int_products(nb::module_& module);
void define_proportional_fit(nb::module_& module);
void define_search_data(nb::module_& module);
void define_search(nb::module_& module);

}  // namespace interplay::bindings
