// The lane kernels for any instruction set. `Simd` defines the registers; it lives in an unnamed namespace of the
// including file, and nothing of std:: may be instantiated here (see tuple_counts-inl.hpp).
//
// Simd has: Bits (256 bits), Counts (u16) and Floats (f32) of as many lanes as kFloats says, and the functions used
// below. Bounds may be computed with wider registers than the rest.
#pragma once

#include "kernels/carry_save-inl.hpp"
#include "kernels/lane_kernels.hpp"
#include "kernels/lane_scores-inl.hpp"
#include "kernels/level_kernels-inl.hpp"
#include "kernels/lowest_bit-inl.hpp"
#include "kernels/paired_kernels-inl.hpp"
#include "kernels/small_cells-inl.hpp"
#include "kernels/sum_kernels-inl.hpp"
#include "kernels/wide_kernels-inl.hpp"

namespace {

using interplay::BytePair;
using interplay::ClassCounts;
using interplay::Index;
using interplay::kLanes;
using interplay::kMaxSubsets;
using interplay::kWordsPerRow;
using interplay::LaneCount;
using interplay::LaneCounts;
using interplay::LaneKernels;
using interplay::LaneModel;
using interplay::LanePieces;
using interplay::LaneScoreJob;
using interplay::ListedRows;
using interplay::Word;

// Words are the rows of squares of bits, 2 · Width by 2 · Width: swap the upper right and the lower left quarter. Of
// the words, i and i + step are `Width` rows apart.
template <class Simd, int Width, int N>
INTERPLAY_INLINE void swap_quarters(typename Simd::Bits (&words)[N], int step) {
  const auto lower = Simd::set_words(~Word{0} / ((Word{1} << Width) + 1));
  for (int i = 0; i < N; ++i) {
    if (i / step % 2) continue;
    auto &above = words[i], &below = words[i + step];
    const auto differ = Simd::and_bits(Simd::xor_bits(Simd::template shift_right<Width>(above), below), lower);
    above = Simd::xor_bits(above, Simd::template shift_left<Width>(differ));
    below = Simd::xor_bits(below, differ);
  }
}

// Lane 32 · t + 8 · quarter + i is bit 8 · i + t of a quarter of the row (see bit_of_lane). So the bits of t are
// swapped in registers of four i, those of i in registers of four quarters.
template <class Simd>
void transpose(Word* lanes, Word* rows) {
  using Bits = typename Simd::Bits;
  for (int four = 0; four < 8; ++four) {
    Bits of_t[8];
    for (int t = 0; t < 8; ++t) of_t[t] = Simd::load_bits(lanes + 32 * t + 4 * four);
    swap_quarters<Simd, 4>(of_t, 4);
    swap_quarters<Simd, 2>(of_t, 2);
    swap_quarters<Simd, 1>(of_t, 1);
    for (int t = 0; t < 8; ++t) Simd::store_bits(lanes + 32 * t + 4 * four, of_t[t]);
  }
  for (int t = 0; t < 8; ++t) {
    Bits of_i[8];
    for (int half = 0; half < 2; ++half) {
      // The quarters of a row are in the order 0, 2, 1, 3.
      const Word* of_half = lanes + 32 * t + 4 * half;
      Simd::transpose_words(Simd::load_bits(of_half), Simd::load_bits(of_half + 16), Simd::load_bits(of_half + 8),
                            Simd::load_bits(of_half + 24), of_i + 4 * half);
    }
    swap_quarters<Simd, 32>(of_i, 4);
    swap_quarters<Simd, 16>(of_i, 2);
    swap_quarters<Simd, 8>(of_i, 1);
    for (int i = 0; i < 8; ++i) Simd::store_bits(rows + (8 * i + t) * kWordsPerRow, of_i[i]);
  }
}

// The set bits of every byte and their number, for list_samples.
struct BitsOfByte {
  std::uint8_t positions[8];
  std::uint8_t number;
  std::uint8_t unused[7];  // 16 bytes, so that a shift makes the address
};
struct BitsOfBytes {
  alignas(16) BitsOfByte of[256];

  constexpr BitsOfBytes() : of{} {
    for (int byte = 0; byte < 256; ++byte) {
      for (int bit = 0; bit < 8; ++bit) {
        if (byte >> bit & 1) of[byte].positions[of[byte].number++] = static_cast<std::uint8_t>(bit);
      }
    }
  }
};
constexpr BitsOfBytes kBitsOfBytes{};

// List the set bits of the first `Bytes` bytes of a word, counted from `first` on; returns the end of the list.
template <class Simd, int Bytes>
INTERPLAY_INLINE LaneCount* list_bits(Word word, typename Simd::Eight first, LaneCount* end) {
  const auto eight = Simd::set_8(8);
  for (int byte = 0; byte < Bytes; ++byte) {
    const BitsOfByte& bits = kBitsOfBytes.of[word >> (8 * byte) & 0xff];
    // Always eight numbers are stored; the next byte overwrites the numbers beyond the ones of this byte.
    Simd::store_8(end, Simd::add_8(Simd::widen_8(bits.positions), first));
    first = Simd::add_8(first, eight);
    end += bits.number;
  }
  return end;
}

template <class Simd>
Index list_samples(const Word* a, const Word* b, Index n_words, LaneCount padding, LaneCount* list) {
  LaneCount* end = list;
  auto first = Simd::set_8(0);
  const auto word_size = Simd::set_8(64);
  for (Index w = 0; w < n_words; ++w) {
    end = list_bits<Simd, 8>(a[w] & b[w], first, end);
    first = Simd::add_8(first, word_size);
  }
  Simd::store_8(end, Simd::set_8(padding));
  Simd::store_8(end + 8, Simd::set_8(padding));
  return end - list;
}

template <class Simd, int Bytes>
Index list_within_bytes(const Word* plane, const Word* mask, Index n_words, LaneCount padding, LaneCount* list) {
  LaneCount* end = list;
  auto first = Simd::set_8(0);
  for (Index w = 0; w < n_words; ++w) {
    end = list_bits<Simd, Bytes>(Simd::extract_bits(plane[w], mask[w]), first, end);
    first = Simd::add_8(first, Simd::set_8(static_cast<LaneCount>(Simd::count_bits(mask[w]))));
  }
  Simd::store_8(end, Simd::set_8(padding));
  Simd::store_8(end + 8, Simd::set_8(padding));
  return end - list;
}

template <class Simd>
Index list_within(const Word* plane, const Word* mask, Index n_words, int n_bytes, LaneCount padding, LaneCount* list) {
  const auto kernel = n_bytes <= 2   ? list_within_bytes<Simd, 2>
                      : n_bytes <= 3 ? list_within_bytes<Simd, 3>
                      : n_bytes <= 4 ? list_within_bytes<Simd, 4>
                      : n_bytes <= 5 ? list_within_bytes<Simd, 5>
                                     : list_within_bytes<Simd, 8>;
  return kernel(plane, mask, n_words, padding, list);
}

// Sixteen rows are added to bit planes of weight 1, 2, 4, 8, and the carries out of these to the planes of weight 16
// and more: a ripple, but only once in sixteen rows.
template <class Simd, class Adder, int HighPlanes>
INTERPLAY_INLINE void add_rows(const Word* rows, const LaneCount* list, Index n_padded,
                               typename Simd::Bits (&planes)[4 + HighPlanes]) {
  using Bits = typename Simd::Bits;
  constexpr int n_planes = 4 + HighPlanes;
  for (int i = 0; i < n_planes; ++i) planes[i] = Simd::zero_bits();
  Bits ones = planes[0], twos = ones, fours = ones, eights = ones;
  const auto two_rows = [&](Index i) {
    return Adder::two_bits(Simd::load_bits(rows + Index{list[i]} * kWordsPerRow),
                           Simd::load_bits(rows + Index{list[i + 1]} * kWordsPerRow));
  };
  for (Index i = 0; i < n_padded; i += 16) {
    const auto twos_a = Adder::add_four(ones, two_rows(i), two_rows(i + 2));
    const auto twos_b = Adder::add_four(ones, two_rows(i + 4), two_rows(i + 6));
    const auto fours_a = Adder::add_four(twos, twos_a, twos_b);
    const auto twos_c = Adder::add_four(ones, two_rows(i + 8), two_rows(i + 10));
    const auto twos_d = Adder::add_four(ones, two_rows(i + 12), two_rows(i + 14));
    const auto fours_b = Adder::add_four(twos, twos_c, twos_d);
    Bits carry = Adder::add_two(eights, Adder::add_four(fours, fours_a, fours_b));
    for (int plane = 4; plane < n_planes; ++plane) {
      const Bits next = Simd::and_bits(planes[plane], carry);
      planes[plane] = Simd::xor_bits(planes[plane], carry);
      carry = next;
    }
  }
  planes[0] = ones;
  planes[1] = twos;
  planes[2] = fours;
  planes[3] = eights;
}

template <class Simd, class Adder, int HighPlanes>
void count_lanes_planes(const Word* rows, const LaneCount* list, Index n_padded, LaneCount* counts) {
  typename Simd::Bits planes[4 + HighPlanes];
  add_rows<Simd, Adder, HighPlanes>(rows, list, n_padded, planes);
  Simd::template planes_to_counts<4 + HighPlanes>(planes, counts);
}

template <class Simd, class Adder>
void count_lanes(const Word* rows, const LaneCount* list, Index n_padded, LaneCount* counts) {
  if (n_padded < 32) {
    count_lanes_planes<Simd, Adder, 1>(rows, list, n_padded, counts);
  } else if (n_padded < 64) {
    count_lanes_planes<Simd, Adder, 2>(rows, list, n_padded, counts);
  } else if (n_padded < 128) {
    count_lanes_planes<Simd, Adder, 3>(rows, list, n_padded, counts);
  } else if (n_padded < 256) {
    count_lanes_planes<Simd, Adder, 4>(rows, list, n_padded, counts);
  } else if (n_padded < 512) {
    count_lanes_planes<Simd, Adder, 5>(rows, list, n_padded, counts);
  } else if (n_padded < 1024) {
    count_lanes_planes<Simd, Adder, 6>(rows, list, n_padded, counts);
  } else {
    count_lanes_planes<Simd, Adder, 12>(rows, list, n_padded, counts);
  }
}

// Both classes at once, with as many planes as the longer list needs. Store: (counts, where, 16 lanes in bytes).
template <class Simd, class Adder, int HighPlanes, class Store, class Lane>
void count_classes_planes(const ListedRows& class_0, const ListedRows& class_1, const LanePieces& pieces,
                          Lane* counts) {
  typename Simd::Bits planes[2][4 + HighPlanes];
  add_rows<Simd, Adder, HighPlanes>(class_0.rows, class_0.list, class_0.n_padded, planes[0]);
  add_rows<Simd, Adder, HighPlanes>(class_1.rows, class_1.list, class_1.n_padded, planes[1]);
  const auto store = [&](int piece, const typename Simd::Counts& pairs) INTERPLAY_INLINE_LAMBDA {
    if (piece < pieces.n_pieces) Store::store(counts + pieces.start[piece], pairs);
  };
  typename Simd::Bits high = Simd::zero_bits();
  for (int i = 4; i < 4 + HighPlanes; ++i) high = Simd::or_bits(high, Simd::or_bits(planes[0][i], planes[1][i]));
  if (Simd::is_zero(high)) {  // mostly, where cells are small
    Simd::template planes_to_byte_pairs<4>(planes[0], planes[1], store);
  } else {
    Simd::template planes_to_byte_pairs<4 + HighPlanes>(planes[0], planes[1], store);
  }
}

template <class Simd, class Adder, class Store, class Lane>
void count_classes(const ListedRows& class_0, const ListedRows& class_1, const LanePieces& pieces, Lane* counts) {
  const Index n_padded = class_0.n_padded > class_1.n_padded ? class_0.n_padded : class_1.n_padded;
  const auto kernel = n_padded < 32    ? count_classes_planes<Simd, Adder, 1, Store, Lane>
                      : n_padded < 64  ? count_classes_planes<Simd, Adder, 2, Store, Lane>
                      : n_padded < 128 ? count_classes_planes<Simd, Adder, 3, Store, Lane>
                                       : count_classes_planes<Simd, Adder, 4, Store, Lane>;
  kernel(class_0, class_1, pieces, counts);
}

template <class Simd>
struct StoreBytes {
  INTERPLAY_INLINE static void store(BytePair* target, const typename Simd::Counts& pairs) {
    Simd::store_counts(target, pairs);
  }
};
template <class Simd>
struct StorePairs {
  INTERPLAY_INLINE static void store(ClassCounts* target, const typename Simd::Counts& pairs) {
    Simd::store_byte_pairs(target, pairs);
  }
};

template <class Simd>
void join_classes(const LaneCount* class_0, const LaneCount* class_1, ClassCounts* counts) {
  for (int lane = 0; lane < kLanes; lane += 16) {
    Simd::store_pairs(counts + lane, Simd::load_counts(class_0 + lane), Simd::load_counts(class_1 + lane));
  }
}

// Samples of each cell of the prefix with the lane at 1, from the counts of "at least these are 1".
template <class Simd, int Prefix>
INTERPLAY_INLINE void cells_with_lane(const ClassCounts* const* with_lane, int lane, typename Simd::Counts* cells) {
  constexpr int n = 1 << Prefix;
  for (int s = 0; s < n; ++s) cells[s] = Simd::load_pairs(with_lane[s] + lane);
  for (int member = 0; member < Prefix; ++member) {
    for (int s = 0; s < n; ++s) {
      if (!(s >> member & 1)) cells[s] = Simd::sub_counts(cells[s], cells[s | 1 << member]);
    }
  }
}

// Sum of a score over all cells, for a register of lanes. Inlined by force: its constants then stay in registers.
template <class Simd, int Prefix, int Parts, class Score>
INTERPLAY_INLINE typename Simd::Floats score_from(const LaneCounts& counts, const TwoClassSums<Simd>& of,
                                                  const Score& score, int lane) {
  using Counts = typename Simd::Counts;
  constexpr int n_families = (1 << Parts) - 1;
  Counts cells[n_families][1 << Prefix];
  for (int family = 0; family < n_families; ++family) {
    cells_with_lane<Simd, Prefix>(counts.with_lane[family], lane, cells[family]);
  }
  // Two sums: an addition waits for the one before.
  typename Simd::Floats sums[2] = {Simd::set_float(0.0f), Simd::set_float(0.0f)};
  const auto add_cells = [&](Counts a, Counts b) {
    sums[0] = score.add_cell(sums[0], of.total(a), of.weighed(a));
    sums[1] = score.add_cell(sums[1], of.total(b), of.weighed(b));
  };
  for (int s = 0; s < 1 << Prefix; ++s) {
    // Parts of the lane at 0 by subtraction: from the prefix's cell, and from one another.
    Counts of_parts[1 << Parts];
    of_parts[0] = Simd::set_pairs(counts.prefix_cells[s]);
    for (int family = 0; family < n_families; ++family) of_parts[family + 1] = cells[family][s];
    for (int part = 0; part < Parts; ++part) {
      for (int f = 0; f <= n_families; ++f) {
        if (!(f >> part & 1)) of_parts[f] = Simd::sub_counts(of_parts[f], of_parts[f | 1 << part]);
      }
    }
    for (int f = 0; f <= n_families; f += 2) add_cells(of_parts[f], of_parts[f + 1]);
  }
  return Simd::add(sums[0], sums[1]);
}

template <class Simd, int Parts, int Prefix, class Score>
int score_lanes(const LaneModel& model, const LaneScoreJob& job) {
  using Floats = typename Simd::Floats;
  const Score score(model, 1.0f);
  const TwoClassSums<Simd> of(model);
  const Floats factor = Simd::set_float(Score::factor(model));
  const Floats slack = Simd::set_float(model.slack);
  int n_survivors = 0;
  constexpr int width = Simd::kFloats;
  for (int lane = job.first_lane / width * width; lane < job.last_lane; lane += width) {
    const Floats sum = score_from<Simd, Prefix, Parts>(job.counts, of, score, lane);
    const Floats to_beat = least_to_beat<Simd>(Parts, Prefix, lane, job);
    n_survivors = list_survivors<Simd>(Simd::multiply_add(sum, factor, slack), to_beat, lane, job, n_survivors);
  }
  return n_survivors;
}

template <class Simd, int Parts, int Prefix, class Score>
void information_lanes(const LaneModel& model, const LaneCounts& counts, int first_lane, int last_lane, float* lower) {
  using Floats = typename Simd::Floats;
  const Score score(model, 2.0f);  // a sub-tuple's cell gathers two cells of the full table
  const TwoClassSums<Simd> of(model);
  const Floats factor = Simd::set_float(Score::factor(model));
  const Floats slack = Simd::set_float(-model.slack);
  constexpr int width = Simd::kFloats;
  for (int lane = first_lane / width * width; lane < last_lane; lane += width) {
    const Floats sum = score_from<Simd, Prefix, Parts>(counts, of, score, lane);
    Simd::store_floats(lower + lane, Simd::multiply_add(sum, factor, slack));
  }
}

template <class Simd, int Parts, int Prefix>
constexpr void set_score_kernels(LaneKernels& kernels) {
  kernels.score_polynomial[Parts][Prefix] = score_lanes<Simd, Parts, Prefix, PolynomialScore<Simd, true>>;
  kernels.score_even[Parts][Prefix] = score_lanes<Simd, Parts, Prefix, PolynomialScore<Simd, true, true>>;
  kernels.score_rational[Parts][Prefix] = score_lanes<Simd, Parts, Prefix, RationalScore<Simd, true>>;
}

template <class Simd, int Parts, int Prefix>
constexpr void set_information_kernels(LaneKernels& kernels) {
  kernels.information_polynomial[Parts][Prefix] = information_lanes<Simd, Parts, Prefix, PolynomialScore<Simd, false>>;
  kernels.information_even[Parts][Prefix] = information_lanes<Simd, Parts, Prefix, PolynomialScore<Simd, false, true>>;
  kernels.information_rational[Parts][Prefix] = information_lanes<Simd, Parts, Prefix, RationalScore<Simd, false>>;
}

// All kernels but the paired ones, which can be compiled in files of their own.
template <class Simd, class WideSimd, class Adder>
constexpr void set_single_kernels(LaneKernels& kernels, interplay::SumKernel sum_planes) {
  kernels.transpose = transpose<Simd>;
  kernels.list_samples = list_samples<Simd>;
  kernels.list_within = list_within<Simd>;
  kernels.count_lanes = count_lanes<Simd, Adder>;
  kernels.join_classes = join_classes<Simd>;
  set_score_kernels<WideSimd, 1, 1>(kernels);
  set_score_kernels<WideSimd, 1, 2>(kernels);
  set_score_kernels<WideSimd, 1, 3>(kernels);
  set_score_kernels<WideSimd, 1, 4>(kernels);
  set_score_kernels<WideSimd, 2, 1>(kernels);
  set_score_kernels<WideSimd, 2, 2>(kernels);
  set_score_kernels<WideSimd, 2, 3>(kernels);
  set_score_kernels<WideSimd, 3, 1>(kernels);
  set_score_kernels<WideSimd, 3, 2>(kernels);
  set_information_kernels<WideSimd, 1, 0>(kernels);
  set_information_kernels<WideSimd, 1, 1>(kernels);
  set_information_kernels<WideSimd, 1, 2>(kernels);
  set_information_kernels<WideSimd, 1, 3>(kernels);
  set_information_kernels<WideSimd, 2, 0>(kernels);
  set_information_kernels<WideSimd, 2, 1>(kernels);
  set_information_kernels<WideSimd, 2, 2>(kernels);
  set_information_kernels<WideSimd, 3, 0>(kernels);
  set_information_kernels<WideSimd, 3, 1>(kernels);
  kernels.levels = make_level_kernels<Simd>();
  kernels.wide = make_wide_kernels<WideSimd>();
  kernels.sums = make_sum_kernels<WideSimd>(sum_planes);
}

template <class Simd, class WideSimd, class Adder>
constexpr void set_all_paired_kernels(interplay::PairedKernels& kernels) {
  kernels = make_paired_kernels<Simd, WideSimd>();
  kernels.count = count_classes<Simd, Adder, StorePairs<Simd>, ClassCounts>;
  kernels.count_bytes = count_classes<Simd, Adder, StoreBytes<Simd>, BytePair>;
}

template <class Simd, class WideSimd = Simd, class Adder = CarrySaveAdder<Simd>>
constexpr LaneKernels make_lane_kernels(interplay::SumKernel sum_planes) {
  LaneKernels kernels{};
  set_single_kernels<Simd, WideSimd, Adder>(kernels, sum_planes);
  set_all_paired_kernels<Simd, WideSimd, Adder>(kernels.paired);
  set_small_cell_kernels<Simd>(kernels.paired);
  return kernels;
}

}  // namespace
