// counts of the cells of a tuple → scores: tables of x·log2(x), and the list of candidates
//
// Needs the same macros as tuple_cells.cuh.
#pragma once

#include "information/tuple_cells.cuh"

namespace interplay {

// Tables of x·log2(x): for each multiplicity of the pseudocounts, one per class and one for all classes.
struct Tables {
  const i64* values;
  const i64* start;  // [n_multiplicities][kClasses + 1]

  // Those of the multiplicity of that number.
  struct OfCells {
    const i64* begin[kClasses + 1];

    // Information of a cell.
    __device__ __forceinline__ i64 information(const u32 (&counts)[kClasses]) const {
      u32 n = 0;
      i64 sum = 0;
#pragma unroll
      for (int q = 0; q < kClasses; ++q) {
        sum += __ldg(begin[q] + counts[q]);
        n += counts[q];
      }
      return sum - __ldg(begin[kClasses] + n);
    }
  };
  __device__ __forceinline__ OfCells at(int multiplicity) const {
    OfCells tables;
#pragma unroll
    for (int q = 0; q <= kClasses; ++q) tables.begin[q] = values + start[multiplicity * (kClasses + 1) + q];
    return tables;
  }

  // x·log2(x) of a cell, where there is no decision.
  __device__ __forceinline__ i64 of_class_0(int multiplicity, u32 count) const {
    return values[start[multiplicity * (kClasses + 1)] + count];
  }
};

// The tuples of a list that the groups of a warp take, one each at a time; the last ones again where none is left,
// since all threads of a warp have to count.
class TuplesOfWarp {
 public:
  __device__ __forceinline__ explicit TuplesOfWarp(u32 n_tuples)
      : n_tuples_(n_tuples), first_((blockIdx.x * blockDim.x + threadIdx.x) / 32 * kGroups) {}
  __device__ __forceinline__ bool has_any() const { return first_ < n_tuples_; }
  __device__ __forceinline__ void next() { first_ += gridDim.x * blockDim.x / 32 * kGroups; }
  __device__ __forceinline__ u32 number() const { return min(of_group(), n_tuples_ - 1); }
  __device__ __forceinline__ bool is_one() const { return of_group() < n_tuples_; }

 private:
  static constexpr u32 kGroups = 32 / kGroup;
  __device__ __forceinline__ u32 of_group() const { return first_ + threadIdx.x % 32 / kGroup; }

  u32 n_tuples_, first_;
};

// Scores that matter: the slot (position and group) of the variable, the number of the tuple, and the score.
struct Candidates {
  int* slots;
  int* tuples;
  double* scores;
  u32* n_found;  // there is room for all

  __device__ __forceinline__ void add(int slot, u32 tuple, double score) const {
    const u32 place = atomicAdd(n_found, 1u);
    slots[place] = slot;
    tuples[place] = (int)tuple;
    scores[place] = score;
  }
};

}  // namespace interplay
