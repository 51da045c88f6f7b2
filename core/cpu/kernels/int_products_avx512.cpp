// AVX-512 with VNNI multiplies 64 pairs of bytes, unsigned by signed, and adds them up by fours.
//
// Bottleneck: one such instruction a cycle; of 24 there are ten loads, from the first- and second-level cache.
// Overflow: a sum of 2^16 samples is at most 2^16 · 255 · 128 < 2^31; parts of the samples are added up in 64 bits.
#include <immintrin.h>

#include <algorithm>

#include "interplay/int_products.hpp"

namespace interplay {
namespace {

constexpr Index kFoursAtOnce = Index{1} << 14, kRegisters = kColumnsPerBlock / 16;

// The sums of some rows and a block of columns, over some samples.
template <int Rows>
void add_sums(const std::int8_t* rows, Index row_stride, const std::uint8_t* columns, Index n_fours,
              std::int64_t (*sums)[kColumnsPerBlock]) {
  __m512i sum_i32x16[Rows][kRegisters];
  for (auto& of_row : sum_i32x16) {
    for (auto& one : of_row) one = _mm512_setzero_si512();
  }
  for (Index four = 0; four < n_fours; ++four) {
    __m512i column_u8x64[kRegisters];
#pragma GCC unroll 4
    for (int c = 0; c < kRegisters; ++c) column_u8x64[c] = _mm512_loadu_si512(columns + 4 * 64 * four + 64 * c);
#pragma GCC unroll 6
    for (int r = 0; r < Rows; ++r) {
      const __m512i row_i8x64 = _mm512_set1_epi32(*reinterpret_cast<const int*>(rows + r * row_stride + 4 * four));
#pragma GCC unroll 4
      for (int c = 0; c < kRegisters; ++c) {
        sum_i32x16[r][c] = _mm512_dpbusd_epi32(sum_i32x16[r][c], column_u8x64[c], row_i8x64);
      }
    }
  }
  for (int r = 0; r < Rows; ++r) {
    std::int32_t found[kColumnsPerBlock];
    for (int c = 0; c < kRegisters; ++c) _mm512_storeu_si512(found + 16 * c, sum_i32x16[r][c]);
    for (Index column = 0; column < kColumnsPerBlock; ++column) sums[r][column] += found[column];
  }
}

// Columns are stored plus 128: that much of the sum of the row is too much.
std::int64_t excess_of(const std::int8_t* row, Index n) {
  std::int64_t sum = 0;
  for (Index i = 0; i < n; ++i) sum += row[i];
  return 128 * sum;
}

template <int Rows>
void products_of(const IntProductJob& job, Index first_row, const std::int64_t* excess) {
  const Index stride = kSamplesPerLane * job.n_fours;
  const std::int8_t* rows = job.rows + first_row * stride;
  for (Index block = 0; block < job.n_blocks; ++block) {
    const std::uint8_t* columns = job.columns + block * kColumnsPerBlock * stride;
    std::int64_t sums[Rows][kColumnsPerBlock] = {};
    for (Index begin = 0; begin < job.n_fours; begin += kFoursAtOnce) {
      add_sums<Rows>(rows + 4 * begin, stride, columns + 4 * kColumnsPerBlock * begin,
                     std::min(kFoursAtOnce, job.n_fours - begin), sums);
    }
    for (int r = 0; r < Rows; ++r) {
      float* found = job.products + (first_row + r) * kColumnsPerBlock * job.n_blocks + block * kColumnsPerBlock;
      for (Index column = 0; column < kColumnsPerBlock; ++column) {
        found[column] = static_cast<float>(sums[r][column] - excess[r]);
      }
    }
  }
}

}  // namespace

void int_products_avx512(const IntProductJob& job) {
  constexpr Index kRowsAtOnce = 6;
  for (Index row = 0; row < job.n_rows; row += kRowsAtOnce) {
    const Index n = std::min(kRowsAtOnce, job.n_rows - row);
    std::int64_t excess[kRowsAtOnce];
    for (Index r = 0; r < n; ++r) {
      excess[r] = excess_of(job.rows + (row + r) * kSamplesPerLane * job.n_fours, kSamplesPerLane * job.n_fours);
    }
    if (n == kRowsAtOnce) {
      products_of<6>(job, row, excess);
    } else {
      for (Index r = 0; r < n; ++r) products_of<1>(job, row + r, excess + r);
    }
  }
}

}  // namespace interplay
