// Memory for vector registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interplay/types.hpp"

namespace interplay {

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

}  // namespace interplay
