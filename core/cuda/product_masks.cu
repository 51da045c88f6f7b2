// a batch → the samples of every pattern of its prefixes, and how many of them each plane has
#include "product_batch.cuh"

using namespace interplay;

// masks: [masks, rounded up to 8][n_steps][4]: words t and t + 4 of a step. With all members open a mask is all ones,
// padding included.
extern "C" __global__ void make_masks(const u32* planes, int n_steps, const int* lane_first, const int* lane_levels,
                                      const int* lane_rows, const i64* lane_row, const Batch* batches, int number,
                                      uint2* masks) {
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch& batch = batches[number];
  const int n_masks = batch.n_masks(lanes), n_pairs = n_steps * 4;
  for (int mask = blockIdx.x; mask < (n_masks + 7) / 8 * 8; mask += gridDim.x) {
    const u32* plane[kMostPrefix];
    int n_closed = 0, rest = mask;
    for (int j = batch.n_prefix - 1; j >= 0 && mask < n_masks; --j) {
      const int n = batch.n_choices(lanes, j), choice = rest % n, upper = batch.upper_levels(lanes, j);
      rest /= n;
      if (choice == 0) continue;
      const i64 row = lanes.row(batch.prefix_lane[j], batch.prefix_begin[j] + (choice - 1) / upper,
                                1 + (choice - 1) % upper);
      plane[n_closed++] = planes + word_index(row, n_steps, 0);
    }
    for (int pair = blockIdx.y * blockDim.x + threadIdx.x; pair < n_pairs; pair += gridDim.y * blockDim.x) {
      const i64 place = (i64)(pair / 4) * kWordsPerFragment + pair % 4 * 4;
      uint2 bits = mask < n_masks ? make_uint2(~0u, ~0u) : make_uint2(0u, 0u);
      for (int j = 0; j < n_closed; ++j) {
        bits.x &= plane[j][place];
        bits.y &= plane[j][place + 2];
      }
      masks[(i64)mask * n_pairs + pair] = bits;
    }
  }
}

// margins: [mask][class][row planes, column planes, 16]: samples of the mask in each plane, and in all, which is the
// first of the last 16. A warp to sixteen planes and eight masks.
extern "C" __global__ void count_margins(const u32* planes, int n_steps, const int* class_steps,
                                         const float* class_sizes, int n_classes, const int* lane_first,
                                         const int* lane_levels, const int* lane_rows, const i64* lane_row,
                                         const Batch* batches, int number, const uint2* masks, u32* margins) {
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch& batch = batches[number];
  const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, n_warps = gridDim.x * (blockDim.x / 32);
  const int n_masks = batch.n_masks(lanes), n_eights = (n_masks + 7) / 8;
  const int row_planes = batch.row_planes(lanes), n_planes = row_planes + batch.column_planes(lanes);
  const int n_fragments = n_planes / kRowsPerFragment + 1, n_pairs = n_steps * 4;
  for (int job = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; job < n_fragments * n_eights; job += n_warps) {
    const int fragment = job % n_fragments, eight = job / n_fragments, first_plane = fragment * kRowsPerFragment;
    const bool is_all = fragment + 1 == n_fragments;
    i64 row = 0;
    if (!is_all) {
      row = first_plane < row_planes ? batch.row_fragment(lanes, fragment)
                                     : batch.column_fragment(lanes, fragment - row_planes / kRowsPerFragment);
    }
    const uint4* words = reinterpret_cast<const uint4*>(planes + word_index(row, n_steps, 0)) + lane;
    const uint2* of_eight = masks + (i64)(eight * 8 + g) * n_pairs + t;
    for (int q = 0; q < n_classes; ++q) {
      u32 sums[4] = {0, 0, 0, 0};
#pragma unroll 4
      for (int step = class_steps[q]; step < class_steps[q + 1]; ++step) {
        const uint4 of_planes = is_all ? make_uint4(~0u, ~0u, ~0u, ~0u) : words[(i64)step * 32];
        add_products(sums, of_planes, of_eight[step * 4], sums);
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int mask = eight * 8 + 2 * t + (e & 1), plane = first_plane + g + (e >> 1) * 8;
        // All ones include the padding of a class.
        const u32 count = is_all && mask == 0 ? (u32)class_sizes[q] : sums[e];
        if (mask < n_masks) margins[((i64)mask * n_classes + q) * (n_planes + kRowsPerFragment) + plane] = count;
      }
    }
  }
}
