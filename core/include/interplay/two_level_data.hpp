// bit planes of two-level variables → a bit row per sample, and the constants of the bound
#pragma once

#include <vector>

#include "interplay/lane_kernels.hpp"
#include "interplay/sample_rows.hpp"
#include "interplay/tile_searcher.hpp"

namespace interplay {

// Memory for vector registers.
template <class T>
class AlignedBuffer {
 public:
  // Make room for `size` entries; old contents are lost if it grows.
  void resize(Index size) {
    if (size <= size_) return;
    storage_ = std::vector<std::byte>(static_cast<std::size_t>(size) * sizeof(T) + kAlignment);
    size_ = size;
  }
  T* data() {
    auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    return reinterpret_cast<T*>((address + kAlignment - 1) / kAlignment * kAlignment);
  }
  const T* data() const { return const_cast<AlignedBuffer*>(this)->data(); }

 private:
  static constexpr std::uintptr_t kAlignment = 64;
  std::vector<std::byte> storage_;
  Index size_ = 0;
};

// Made once per search and shared by its threads. Lane blocks are cut into chunks of up to 256 variables.
class TwoLevelData {
 public:
  // Whether the lane kernels can search any tile of this problem.
  static bool applies_to(const SearchProblem& problem);

  explicit TwoLevelData(const SearchProblem& problem);

  // Whether a tile holds two-level variables only.
  bool applies_to(const std::int32_t* tile) const;

  Index first_chunk(Index lane_block) const { return chunk_start_[lane_block]; }
  Index last_chunk(Index lane_block) const { return chunk_start_[lane_block + 1]; }
  const SampleRowLayout& layout() const { return layout_; }
  // The bit rows of a chunk's variables.
  const Word* rows(Index chunk) const { return rows_.data() + chunk * layout_.n_words; }

  const LaneModel& model() const { return model_; }
  bool bound_is_tight() const { return bound_is_tight_; }
  // Information (as LaneModel means it) of a sum of x·log2(x) in bits.
  double information_of(double bits) const { return bits - offset_; }

 private:
  void make_model();

  const SearchProblem& problem_;
  SampleRowLayout layout_;
  std::vector<Index> chunk_start_;
  AlignedBuffer<Word> rows_;
  LaneModel model_;
  bool bound_is_tight_;
  double offset_;
};

}  // namespace interplay
