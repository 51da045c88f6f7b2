// Codes and a decision drawn at random, their bit planes, and gains straight from the formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "interplay/bit_planes.hpp"

using namespace interplay;

struct Data {
  Index n_samples, n_vars, n_contrast, n_classes, dimensions;
  std::vector<Index> levels;  // per row
  std::vector<std::vector<std::uint8_t>> codes;
  std::vector<Index> decision;
  std::vector<Index> sizes;
  double pseudocount = 0.25;
  std::vector<std::int32_t> scores;  // of a number outcome: one for each sample, ascending; samples have one class

  Index n_rows() const { return n_vars + n_contrast; }
};

inline Data make_data(std::mt19937& rng, Index n_samples, Index n_vars, Index n_contrast, Index n_classes,
                      Index dimensions, Index max_levels) {
  Data data{n_samples, n_vars, n_contrast, n_classes, dimensions, {}, {}, {}, std::vector<Index>(n_classes, 0)};
  for (Index i = 0; i < n_samples; ++i) {
    const Index q = i < n_classes ? i : static_cast<Index>(rng() % n_classes);  // no class is empty
    data.decision.push_back(q);
    ++data.sizes[q];
  }
  for (Index row = 0; row < data.n_rows(); ++row) {
    const Index c = 2 + static_cast<Index>(rng() % (max_levels - 1));
    data.levels.push_back(c);
    std::vector<std::uint8_t> column;
    for (Index i = 0; i < n_samples; ++i) column.push_back(static_cast<std::uint8_t>(rng() % c));
    data.codes.push_back(column);
  }
  return data;
}

// U of a table given as counts per (cell, class), straight from the formula.
inline double entropy(const std::map<std::vector<Index>, std::vector<double>>& table) {
  double sum = 0;
  for (const auto& [cell, counts] : table) {
    double total = 0;
    for (const double n : counts) total += n;
    for (const double n : counts) sum -= n * std::log2(n / total);
  }
  return sum;
}

inline double gain_by_hand(const Data& data, const std::vector<Index>& tuple, Index member) {
  const Index smallest = *std::min_element(data.sizes.begin(), data.sizes.end());
  std::map<std::vector<Index>, std::vector<double>> full, summed;
  std::vector<Index> cell(tuple.size(), 0);
  while (true) {  // every cell of the table, the empty ones included
    std::vector<double> counts;
    for (Index q = 0; q < data.n_classes; ++q) {
      counts.push_back(data.pseudocount * static_cast<double>(data.sizes[q]) / static_cast<double>(smallest));
    }
    for (Index i = 0; i < data.n_samples; ++i) {
      bool inside = true;
      for (std::size_t m = 0; m < tuple.size(); ++m) inside = inside && data.codes[tuple[m]][i] == cell[m];
      if (inside) counts[data.decision[i]] += 1;
    }
    full[cell] = counts;
    std::vector<Index> rest = cell;
    rest.erase(rest.begin() + member);
    auto& target = summed.try_emplace(rest, std::vector<double>(data.n_classes, 0.0)).first->second;
    for (Index q = 0; q < data.n_classes; ++q) target[q] += counts[q];
    std::size_t place = 0;
    while (place < tuple.size() && ++cell[place] == data.levels[tuple[place]]) cell[place++] = 0;
    if (place == tuple.size()) break;
  }
  return entropy(summed) - entropy(full);
}

struct Packed {
  std::vector<Word> words;
  std::vector<Index> plane_start{0}, class_word_start{0};
  Index n_words = 0;
  std::vector<std::int32_t> scores;  // of a number outcome: of each byte, and the bits that are samples
  std::vector<Word> samples;
};

// Bits of a number outcome: up to eight samples of one score to a byte, now and then fewer.
inline std::vector<Index> slots_of(const Data& data, std::vector<std::int32_t>& of_bytes) {
  std::vector<Index> slots;
  for (Index i = 0; i < data.n_samples; ++i) {
    const bool is_new = i == 0 || data.scores[i] != data.scores[i - 1] || slots.size() % 8 == 0 || i % 29 == 0;
    if (is_new) {
      slots.resize((slots.size() + 7) / 8 * 8, -1);
      of_bytes.push_back(data.scores[i]);
    }
    slots.push_back(i);
  }
  return slots;
}

inline Packed pack(const Data& data) {
  Packed packed;
  for (const Index c : data.levels) packed.plane_start.push_back(packed.plane_start.back() + c - 1);
  const bool of_numbers = !data.scores.empty();
  std::vector<Index> slots = of_numbers ? slots_of(data, packed.scores) : std::vector<Index>{};
  for (const Index size : of_numbers ? std::vector<Index>{static_cast<Index>(slots.size())} : data.sizes) {
    packed.class_word_start.push_back(packed.class_word_start.back() + (size + 511) / 512 * kWordsPerBlock);
  }
  packed.n_words = packed.class_word_start.back();
  packed.words.assign(packed.plane_start.back() * packed.n_words, 0);
  std::vector<Index> sample_order;
  for (Index q = 0; q < data.n_classes; ++q) {
    for (Index i = 0; i < data.n_samples; ++i) {
      if (data.decision[i] == q) sample_order.push_back(i);
    }
  }
  std::vector<Index> n_bits = data.sizes;
  if (of_numbers) {
    n_bits = {packed.n_words * 64};
    slots.resize(static_cast<std::size_t>(n_bits[0]), -1);
    packed.scores.resize(static_cast<std::size_t>(packed.n_words * 8));
    packed.samples.resize(static_cast<std::size_t>(packed.n_words));
    for (std::size_t bit = 0; bit < slots.size(); ++bit) {
      if (slots[bit] >= 0) packed.samples[bit / 64] |= Word{1} << (bit % 64);
    }
    sample_order = slots;
  }
  std::vector<std::uint8_t> codes;
  for (const auto& column : data.codes) codes.insert(codes.end(), column.begin(), column.end());
  pack_bit_planes(codes, sample_order, n_bits, packed.class_word_start, packed.plane_start, 0, data.n_rows(),
                  packed.words);
  return packed;
}

inline BitPlanes planes_of(const Data& data, const Packed& packed) {
  return {packed.words, packed.n_words, packed.plane_start,   data.levels,   packed.class_word_start,
          data.sizes,   data.n_vars,    !data.scores.empty(), packed.scores, packed.samples};
}
