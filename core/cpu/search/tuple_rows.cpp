#include "interplay/tuple_rows.hpp"

#include <algorithm>
#include <numeric>

namespace interplay {

void TupleRows::add(const Index* members, Index variable, double value) {
  const std::size_t begin = numbers_.size();
  for (Index m = 0; m < dimensions_; ++m) numbers_.push_back(static_cast<std::int32_t>(members[m]));
  std::sort(numbers_.begin() + static_cast<std::ptrdiff_t>(begin), numbers_.end());
  numbers_.push_back(static_cast<std::int32_t>(variable));
  values_.push_back(value);
}

void TupleRows::sort() {
  const auto comes_before = [&](Index a, Index b) {
    return std::lexicographical_compare(tuple(a), tuple(a) + stride(), tuple(b), tuple(b) + stride());
  };
  std::vector<Index> order(values_.size());
  std::iota(order.begin(), order.end(), Index{0});
  // Mostly they are in order already: with the same number of levels everywhere, variables are visited in order.
  if (std::is_sorted(order.begin(), order.end(), comes_before)) return;
  std::sort(order.begin(), order.end(), comes_before);
  std::vector<std::int32_t> numbers;
  std::vector<double> values;
  numbers.reserve(numbers_.size());
  values.reserve(values_.size());
  for (const Index row : order) {
    numbers.insert(numbers.end(), tuple(row), tuple(row) + stride());
    values.push_back(value(row));
  }
  numbers_ = std::move(numbers);
  values_ = std::move(values);
}

void TupleRowsByTile::hand_in(Index tile, TupleRows&& rows) {
  n_rows_.fetch_add(rows.size(), std::memory_order_relaxed);
  of_tile(tile) = std::move(rows);  // each tile has one thread, so no lock is needed
}

}  // namespace interplay
