#include "interplay/bit_planes.hpp"

#include <algorithm>

#include "kernels/byte_bits-inl.hpp"

namespace interplay {

namespace {

constexpr Word kOnes = 0x0101010101010101;  // in every byte

// Up to this many planes are made one after the other; beyond, each sample goes to its own.
constexpr Index kFewPlanes = 6;

// 1 in every byte that is `byte`, else 0.
Word equal_bytes(Word bytes, Word byte) {
  const Word differ = bytes ^ (byte * kOnes);
  // A sum of seven bits has the eighth unless all are 0, and carries into no other byte.
  return ~((((differ & (0x7f * kOnes)) + 0x7f * kOnes) | differ) >> 7) & kOnes;
}

}  // namespace

namespace {

template <bool Gaps>
void pack_rows(std::span<const std::uint8_t> codes, std::span<const Index> sample_order,
               std::span<const Index> class_sizes, std::span<const Index> class_word_start,
               std::span<const Index> plane_start, Index first_row, Index last_row, std::span<Word> words) {
  const Index n_words = class_word_start.back();
  const Index n_samples = static_cast<Index>(codes.size() / (plane_start.size() - 1));
  for (Index row = first_row; row < last_row; ++row) {
    const std::uint8_t* code = codes.data() + row * n_samples;
    Word* planes = words.data() + plane_start[row] * n_words;
    const Index n_planes = plane_start[row + 1] - plane_start[row];
    const Index* sample = sample_order.data();
    const auto level_of = [&](int bit) { return Gaps && sample[bit] < 0 ? std::uint8_t{0} : code[sample[bit]]; };
    for (std::size_t q = 0; q < class_sizes.size(); ++q) {
      Index word = class_word_start[q];
      for (Index left = class_sizes[q]; left > 0; left -= 64, ++word) {
        const int n_bits = static_cast<int>(left < 64 ? left : 64);
        if (n_planes == 1) {
          Word bits = 0;
          for (int bit = 0; bit < n_bits; ++bit) bits |= Word{level_of(bit)} << bit;
          planes[word] = bits;
        } else if (n_planes <= kFewPlanes) {
          Word eight[8] = {};
          for (int bit = 0; bit < n_bits; ++bit) eight[bit / 8] |= Word{level_of(bit)} << (bit % 8 * 8);
          for (Index plane = 0; plane < n_planes; ++plane) {
            Word bits = 0;
            for (int i = 0; i < 8; ++i) bits |= as_bits(equal_bytes(eight[i], static_cast<Word>(plane + 1))) << (8 * i);
            planes[plane * n_words + word] = bits;
          }
        } else {
          for (int bit = 0; bit < n_bits; ++bit) {
            const Index level = level_of(bit);
            if (level != 0) planes[(level - 1) * n_words + word] |= Word{1} << bit;
          }
        }
        sample += n_bits;
      }
    }
  }
}

}  // namespace

void pack_bit_planes(std::span<const std::uint8_t> codes, std::span<const Index> sample_order,
                     std::span<const Index> class_sizes, std::span<const Index> class_word_start,
                     std::span<const Index> plane_start, Index first_row, Index last_row, std::span<Word> words) {
  const bool has_gaps = std::ranges::find(sample_order, Index{-1}) != sample_order.end();
  const auto pack = has_gaps ? pack_rows<true> : pack_rows<false>;
  pack(codes, sample_order, class_sizes, class_word_start, plane_start, first_row, last_row, words);
}

std::uint8_t highest_code(std::span<const std::uint8_t> codes) {
  std::uint8_t highest = 0;  // not std::max_element, which compilers do not turn into vector instructions
  for (const std::uint8_t code : codes) highest = code > highest ? code : highest;
  return highest;
}

void mask_all_samples(const BitPlanes& planes, Word* mask) {
  if (planes.of_numbers) {
    for (Index w = 0; w < planes.n_words; ++w) mask[w] = planes.samples[w];
    return;
  }
  for (Index w = 0; w < planes.n_words; ++w) mask[w] = 0;
  for (Index q = 0; q < planes.n_classes(); ++q) {
    const Index first = planes.class_word_start[q] * 64;
    for (Index bit = first; bit < first + planes.class_sizes[q]; ++bit) mask[bit / 64] |= Word{1} << (bit % 64);
  }
}

}  // namespace interplay
