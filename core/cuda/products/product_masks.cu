// a batch → the samples of every pattern of its prefixes, and how many of them each plane has
#include "products/product_batch.cuh"

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
      const i64 row =
          lanes.row(batch.prefix_lane[j], batch.prefix_begin[j] + (choice - 1) / upper, 1 + (choice - 1) % upper);
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

constexpr int kWarpsOfMargins = 8, kFragmentsOfMargins = 4, kEightsOfMargins = 4;

// margins: [mask][class][row planes, column planes, 16]: samples of the mask in each plane, and in all, which is the
// first of the last 16. totals: of all samples, by class. class_steps: of a number outcome, as DigitOrders.for_tuples
// has them. A block of threads to some fragments of planes and some times eight masks; each of its warps takes a part
// of the samples.
extern "C" __global__ void __launch_bounds__(32 * kWarpsOfMargins)
    count_margins(const u32* planes, int n_steps, const int* class_steps, const u32* totals, int n_classes,
                  const int* lane_first, const int* lane_levels, const int* lane_rows, const i64* lane_row,
                  const Batch* batches, int number, const uint2* masks, u32* margins) {
  __shared__ u32 of_block[kFragmentsOfMargins * kEightsOfMargins * 4][32];
  const LaneBlocks lanes = {lane_first, lane_levels, lane_rows, lane_row};
  const Batch& batch = batches[number];
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane >> 2, t = lane & 3;
  const int n_masks = batch.n_masks(lanes), n_eights = (n_masks + 7) / 8, n_pairs = n_steps * 4;
  const int row_fragments = batch.row_planes(lanes) / kRowsPerFragment;
  const int n_fragments = row_fragments + batch.column_planes(lanes) / kRowsPerFragment + 1;
  const int n_planes = (n_fragments - 1) * kRowsPerFragment;
  const int first_eight = blockIdx.x * kEightsOfMargins, first_fragment = blockIdx.y * kFragmentsOfMargins;
  const uint4* words[kFragmentsOfMargins];
  bool is_all[kFragmentsOfMargins];  // the last fragment is of all samples
#pragma unroll
  for (int f = 0; f < kFragmentsOfMargins; ++f) {
    const int fragment = min(first_fragment + f, n_fragments - 2);
    const i64 row = fragment < row_fragments ? batch.row_fragment(lanes, fragment)
                                             : batch.column_fragment(lanes, fragment - row_fragments);
    words[f] = reinterpret_cast<const uint4*>(planes + word_index(row, n_steps, 0)) + lane;
    is_all[f] = first_fragment + f == n_fragments - 1;
  }
  const uint2* of_eight[kEightsOfMargins];
#pragma unroll
  for (int e = 0; e < kEightsOfMargins; ++e) {
    of_eight[e] = masks + (i64)(min(first_eight + e, n_eights - 1) * 8 + g) * n_pairs + t;
  }
  for (int q = 0; q < n_classes; ++q) {
    for (int i = threadIdx.x; i < kFragmentsOfMargins * kEightsOfMargins * 4 * 32; i += 32 * kWarpsOfMargins) {
      of_block[i / 32][i % 32] = 0;
    }
    u32 sums[kFragmentsOfMargins][kEightsOfMargins][4];
#pragma unroll
    for (int i = 0; i < kFragmentsOfMargins * kEightsOfMargins * 4; ++i) (&sums[0][0][0])[i] = 0;
    const bool is_sum = kNumbers && q > 0;
    const int first_step = is_sum ? 0 : class_steps[q], end_step = kNumbers ? class_steps[1] : class_steps[q + 1];
#pragma unroll 2
    for (int step = first_step + warp; step < end_step; step += kWarpsOfMargins) {
      uint4 of_planes[kFragmentsOfMargins];
      uint2 of_masks[kEightsOfMargins];
#pragma unroll
      for (int f = 0; f < kFragmentsOfMargins; ++f) of_planes[f] = words[f][(i64)step * 32];
#pragma unroll
      for (int e = 0; e < kEightsOfMargins; ++e) of_masks[e] = of_eight[e][step * 4];
#pragma unroll
      for (int f = 0; f < kFragmentsOfMargins; ++f) {
        if (is_all[f]) of_planes[f] = make_uint4(~0u, ~0u, ~0u, ~0u);
#pragma unroll
        for (int e = 0; e < kEightsOfMargins; ++e) {
          if (is_sum) {
            const u32 none[4] = {0, 0, 0, 0}, weight = (u32)class_steps[2 + step];
            u32 found[4];
            add_products(found, of_planes[f], of_masks[e], none);
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[f][e][i] += found[i] * weight;
          } else {
            add_products(sums[f][e], of_planes[f], of_masks[e], sums[f][e]);
          }
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kFragmentsOfMargins * kEightsOfMargins * 4; ++i) {
      atomicAdd(&of_block[i][lane], (&sums[0][0][0])[i]);
    }
    __syncthreads();
    for (int i = warp; i < kFragmentsOfMargins * kEightsOfMargins * 4; i += kWarpsOfMargins) {
      const int fragment = first_fragment + i / 4 / kEightsOfMargins, eight = first_eight + i / 4 % kEightsOfMargins;
      const int mask = eight * 8 + 2 * t + (i & 1), plane = fragment * kRowsPerFragment + g + (i % 4 >> 1) * 8;
      u32 count = of_block[i][lane];
      // All ones include the padding of a class.
      if (fragment == n_fragments - 1 && mask == 0) count = totals[q];
      if (fragment < n_fragments && mask < n_masks) {
        margins[((i64)mask * n_classes + q) * (n_planes + kRowsPerFragment) + plane] = count;
      }
    }
    __syncthreads();
  }
}
