// tiles → a sample of their tuples, to warm the maxima; or all of them, where tuple_search.cu cannot bound them (too
// many levels or classes) or a bound would not help
//
// Compiled once for each DIMENSIONS.
#include "tuples/tuple_tiles.cuh"

using namespace interplay;

namespace {

__device__ __forceinline__ void append(const int (&tuple)[DIMENSIONS], int tile_number, int* tuples, u32* n_found,
                                       u32 capacity) {
  const u32 place = atomicAdd(n_found, 1u);
  if (place >= capacity) return;
  tuples[(i64)place * (1 + DIMENSIONS)] = tile_number;
#pragma unroll
  for (int j = 0; j < DIMENSIONS; ++j) tuples[(i64)place * (1 + DIMENSIONS) + 1 + j] = tuple[j];
}

// The last tile whose choices start at or before `choice`.
template <class Number>
__device__ __forceinline__ int tile_of(Number choice, const Number* choice_start, int n_tiles) {
  int low = 0, high = n_tiles;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (choice_start[middle] <= choice ? low : high) = middle;
  }
  return low;
}

// splitmix64: good enough for a sample, and the same on every device.
__device__ __forceinline__ u64 next_random(u64& state) {
  u64 z = (state += 0x9E3779B97F4A7C15ull);
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

// A random variable for each place of a tile, but a given one for one of them; whether they ascend.
__device__ __forceinline__ bool choose_members(const Tile<DIMENSIONS>& tile, u64& state, int given_place,
                                               int given_position, int (&tuple)[DIMENSIONS]) {
  bool ascends = true;
#pragma unroll
  for (int j = 0; j < DIMENSIONS; ++j) {
    const u32 size = tile.places[j].end - tile.places[j].begin;
    tuple[j] = tile.places[j].begin + (int)((next_random(state) >> 32) * size >> 32);
    if (j == given_place) tuple[j] = given_position;
    if (j > 0 && tuple[j - 1] >= tuple[j]) ascends = false;
  }
  return ascends;
}

}  // namespace

// A random sample of the tuples of all tiles, as many as tries first … end give; a try gives the same tuple in every
// launch. choice_start: [n_tiles + 1], choices of one variable per place before each tile, ascending or not.
extern "C" __global__ void sample_tuples(const Tile<DIMENSIONS>* tiles, const double* choice_start, int n_tiles,
                                         int first, int end, int* tuples, u32* n_found, u32 capacity) {
  const int stride = gridDim.x * blockDim.x;
  for (int attempt = first + blockIdx.x * blockDim.x + threadIdx.x; attempt < end; attempt += stride) {
    // Far apart: the generator steps on by adding.
    u64 state = attempt * 0xD1342543DE82EF95ull;
    const double choice = (next_random(state) >> 11) * 0x1p-53 * choice_start[n_tiles];
    const int number = tile_of(choice, choice_start, n_tiles);
    int tuple[DIMENSIONS];
    if (choose_members(tiles[number], state, -1, 0, tuple)) append(tuple, number, tuples, n_found, capacity);
  }
}

// Tuples with every variable, a few for each place, as many as tries first … end give. tile_of: [place][position], a
// tile that has the variable at that place, or −1; the other members are random.
extern "C" __global__ void sample_with_all(const Tile<DIMENSIONS>* tiles, const int* tile_of, int n_positions,
                                           int first, int end, int* tuples, u32* n_found, u32 capacity) {
  const int stride = gridDim.x * blockDim.x;
  for (int attempt = first + blockIdx.x * blockDim.x + threadIdx.x; attempt < end; attempt += stride) {
    const int place = attempt % DIMENSIONS, position = attempt / DIMENSIONS % n_positions;
    const int number = tile_of[(i64)place * n_positions + position];
    if (number < 0) continue;
    u64 state = ~(u64)attempt * 0xD1342543DE82EF95ull;
    int tuple[DIMENSIONS];
    if (choose_members(tiles[number], state, place, position, tuple)) append(tuple, number, tuples, n_found, capacity);
  }
}

// Choices first … end of one variable per place, counted tile after tile with the last place running fastest; choices
// in ascending order are listed. choice_start: [n_tiles + 1]
extern "C" __global__ void list_tuples(const Tile<DIMENSIONS>* tiles, const i64* choice_start, int n_tiles, i64 first,
                                       i64 end, int* tuples, u32* n_found, u32 capacity) {
  const i64 stride = (i64)gridDim.x * blockDim.x;
  for (i64 choice = first + (i64)blockIdx.x * blockDim.x + threadIdx.x; choice < end; choice += stride) {
    const int number = tile_of(choice, choice_start, n_tiles);
    const Tile<DIMENSIONS>& tile = tiles[number];
    int tuple[DIMENSIONS];
    i64 rest = choice - choice_start[number];
    bool ascends = true;
#pragma unroll
    for (int j = DIMENSIONS - 1; j >= 0; --j) {
      const Place& place = tile.places[j];
      tuple[j] = place.begin + (int)(rest % (place.end - place.begin));
      rest /= place.end - place.begin;
      if (j + 1 < DIMENSIONS && tuple[j] >= tuple[j + 1]) ascends = false;
    }
    if (ascends) append(tuple, number, tuples, n_found, capacity);
  }
}
