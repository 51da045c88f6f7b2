#include "search/degrees_of_freedom.hpp"

#include <algorithm>
#include <bit>

namespace interplay {
namespace {

// Columns times entries beyond which nobody looks which columns have entries.
constexpr Index kMostNumbers = Index{1} << 24;

}  // namespace

void DegreesOfFreedom::set_up(std::span<const TableMember> members, const BitPlanes& planes, bool has_stratum) {
  of_numbers_ = planes.of_numbers;
  const Index n_classes = planes.cell_size();  // a number outcome has one degree of freedom, as two classes have
  if (n_classes == n_classes_ && std::ranges::equal(members, given_)) return;
  given_.assign(members.begin(), members.end());
  n_classes_ = n_classes;
  n_strata_ = has_stratum ? members[0].n_levels : 1;
  stratum_inner_ = has_stratum ? members[0].inner : 1;
  members_.assign(members.begin() + has_stratum, members.end());
  n_cells_ = 1;
  full_of_stratum_ = n_classes - 1;
  for (TableMember& member : members_) {
    if (has_stratum && member.inner > stratum_inner_) member.inner /= n_strata_;
    n_cells_ *= member.n_levels;
    full_of_stratum_ *= member.n_levels - 1;
  }
  n_entries_ = n_cells_ * n_classes;
  n_columns_ = (n_classes - 1) * n_cells_ - full_of_stratum_;
  n_words_ = (n_entries_ + 63) / 64;
  positive_.resize(static_cast<std::size_t>(n_entries_));
  supported_.resize(positive_.size());
  packed_.resize(static_cast<std::size_t>(n_words_));
  are_many_ = n_columns_ > kMostNumbers / n_entries_;
  columns_.clear();
  if (are_many_ || of_numbers_) return;
  // A cell names a choice: of the members that are at a level from 1 on in it. Its column has the cells that agree.
  columns_.reserve(static_cast<std::size_t>(n_columns_ * n_words_));
  const auto level_in = [](Index cell, const TableMember& member) { return cell / member.inner % member.n_levels; };
  for (Index choice = 0; choice < n_cells_; ++choice) {
    const auto is_chosen = [&](const TableMember& member) { return level_in(choice, member) > 0; };
    if (std::all_of(members_.begin(), members_.end(), is_chosen)) continue;
    for (Index q = 1; q < n_classes; ++q) {
      columns_.resize(columns_.size() + static_cast<std::size_t>(n_words_));
      Word* column = columns_.data() + columns_.size() - n_words_;
      for (Index cell = 0; cell < n_cells_; ++cell) {
        const bool agrees = std::all_of(members_.begin(), members_.end(), [&](const TableMember& member) {
          return !is_chosen(member) || level_in(cell, member) == level_in(choice, member);
        });
        const Index entry = cell * n_classes + q;
        if (agrees) column[entry / 64] |= Word{1} << (entry % 64);
      }
    }
  }
}

Index DegreesOfFreedom::fewest_of_numbers(const Count* counts) const {
  Index df = 0;
  for (Index stratum = 0; stratum < n_strata_; ++stratum) {
    Index left = full_of_stratum_;
    for (Index cell = 0; cell < n_strata_ * n_cells_; ++cell) {
      if (n_strata_ > 1 && cell / stratum_inner_ % n_strata_ != stratum) continue;
      left -= counts[2 * cell] == 0;
    }
    df += std::max<Index>(left, 0);
  }
  return df;
}

Index DegreesOfFreedom::fewest(const Count* counts) {
  if (of_numbers_) return fewest_of_numbers(counts);
  const Index n_all = n_strata_ * n_entries_;
  // Mostly no count is 0, and then no margin is.
  if (std::find(counts, counts + n_all, Count{0}) == counts + n_all) return full();
  Index df = 0;
  for (Index stratum = 0; stratum < n_strata_; ++stratum) {
    const Index inner = stratum_inner_ * n_classes_, outer = n_strata_ * inner;
    const Count* of_stratum = counts + (n_strata_ > 1 ? stratum * inner : 0);
    std::uint8_t* positive = positive_.data();
    if (n_strata_ == 1) {
      for (Index entry = 0; entry < n_entries_; ++entry) positive[entry] = counts[entry] > 0;
    } else {
      for (Index first = 0; first < n_all; first += outer, positive += inner) {
        for (Index i = 0; i < inner; ++i) positive[i] = of_stratum[first + i] > 0;
      }
    }
    df += fewest_of_stratum();
  }
  return df;
}

Index DegreesOfFreedom::fewest_of_stratum() {
  find_supported();
  // Entries, less the cells that have any: the entries beyond the fit of a(x). A cell with one entry is fitted by a(x)
  // alone.
  Index n_beyond_cells = 0;
  for (Index cell = 0; cell < n_cells_; ++cell) {
    std::uint8_t* of_cell = supported_.data() + cell * n_classes_;
    Index n = 0;
    for (Index q = 0; q < n_classes_; ++q) n += of_cell[q];
    if (n > 1) n_beyond_cells += n - 1;
    if (n == 1) std::fill_n(of_cell, n_classes_, std::uint8_t{0});
  }
  return std::max<Index>(n_beyond_cells - n_columns_with_entries(), 0);
}

// Entries of which no margin is empty.
void DegreesOfFreedom::find_supported() {
  for (Index cell = 0; cell < n_cells_; ++cell) {
    const std::uint8_t* of_cell = positive_.data() + cell * n_classes_;
    std::uint8_t any = 0;
    for (Index q = 0; q < n_classes_; ++q) any |= of_cell[q];
    std::fill_n(supported_.data() + cell * n_classes_, n_classes_, any);
  }
  for (const TableMember& member : members_) {
    const Index stride = member.inner * n_classes_, outer = member.n_levels * stride;
    for (Index first = 0; first < n_entries_; first += outer) {
      for (Index i = first; i < first + stride; ++i) {
        std::uint8_t any = 0;
        for (Index at = i; at < i + outer; at += stride) any |= positive_[at];
        for (Index at = i; at < i + outer; at += stride) supported_[at] &= any;
      }
    }
  }
}

Index DegreesOfFreedom::n_columns_with_entries() {
  if (are_many_) return n_columns_;
  std::fill(packed_.begin(), packed_.end(), Word{0});
  for (Index entry = 0; entry < n_entries_; ++entry) packed_[entry / 64] |= Word{supported_[entry]} << (entry % 64);
  Index n = 0;
  for (const Word* column = columns_.data(); column < columns_.data() + columns_.size(); column += n_words_) {
    Word any = 0;
    for (Index w = 0; w < n_words_; ++w) any |= column[w] & packed_[w];
    n += any != 0;
  }
  return n;
}

}  // namespace interplay
