// Memory for vector registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "interplay/types.hpp"
#include "memory/buffer_pool.hpp"

namespace interplay {

template <class T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : storage_(std::exchange(other.storage_, {})), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedBuffer() { BufferPool::give_back(storage_); }

  // Make room for `size` entries, which hold anything; old contents are lost if it grows.
  void resize(Index size) {
    if (size <= size_) return;
    BufferPool::give_back(std::exchange(storage_, {}));
    size_ = 0;
    storage_ = BufferPool::take(static_cast<std::size_t>(size) * sizeof(T) + kAlignment);
    size_ = size;
  }
  T* data() {
    auto address = reinterpret_cast<std::uintptr_t>(storage_.start);
    return reinterpret_cast<T*>((address + kAlignment - 1) / kAlignment * kAlignment);
  }
  const T* data() const { return const_cast<AlignedBuffer*>(this)->data(); }

 private:
  static constexpr std::uintptr_t kAlignment = 64;
  BufferPool::Block storage_;
  Index size_ = 0;
};

}  // namespace interplay
