// planes as the host packs them → fragments (tuple_counts.cuh), with a plane for level 0 too
#include "planes/tuple_counts.cuh"

using namespace interplay;

// words: [n_planes][8 · n_steps], 32 bits at a time
// rows: where each row lies in fragments
// row_plane: for each of them the plane of its level, or of its variable's level 1 where row_others, the number of the
// variable's planes, is positive: level 0 is then all valid samples without a bit in these planes; −1 for a row of
// zeros.
//
// With NUMBERS, each byte of a row is the byte of the plane that it names, or 0 where it names none: −1
// (digit_orders.py).
#ifdef NUMBERS
extern "C" __global__ void make_ordered_fragments(const u32* words, const u32* valid, const int* rows,
                                                  const i64* row_plane, const int* row_others, i64 n_rows,
                                                  int host_words, const int* bytes, int n_steps, u32* fragments) {
  const i64 n_words = (i64)n_steps * kWordsPerStep;
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows * n_words; i += stride) {
    const i64 row = i / n_words;
    const int word = (int)(i % n_words);
    u32 bits = 0;
    for (int part = 0; part < 4 && row_plane[row] >= 0; ++part) {
      const int byte = bytes[word * 4 + part];
      if (byte < 0) continue;
      const auto word_of = [&](i64 other) { return words[(row_plane[row] + other) * host_words + byte / 4]; };
      u32 of_byte = word_of(0);
      if (row_others[row] > 0) {
        for (int a = 1; a < row_others[row]; ++a) of_byte |= word_of(a);
        of_byte = valid[byte / 4] & ~of_byte;
      }
      bits |= (of_byte >> byte % 4 * 8 & 0xFF) << part * 8;
    }
    fragments[word_index(rows[row], n_steps, word % kWordsPerStep) + word / kWordsPerStep * kWordsPerFragment] = bits;
  }
}
#else
extern "C" __global__ void make_fragments(const u32* words, const u32* valid, const int* rows, const i64* row_plane,
                                          const int* row_others, i64 n_rows, int n_steps, u32* fragments) {
  const i64 n_words = (i64)n_steps * kWordsPerStep;
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n_rows * n_words; i += stride) {
    const i64 row = i / n_words;
    const int word = (int)(i % n_words);
    u32 bits = 0;
    if (row_plane[row] >= 0) {
      bits = words[row_plane[row] * n_words + word];
      if (row_others[row] > 0) {
        for (int a = 1; a < row_others[row]; ++a) bits |= words[(row_plane[row] + a) * n_words + word];
        bits = valid[word] & ~bits;
      }
    }
    fragments[word_index(rows[row], n_steps, word % kWordsPerStep) + word / kWordsPerStep * kWordsPerFragment] = bits;
  }
}
#endif
