// Memory for vector registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "interplay/types.hpp"

namespace interplay {

template <class T>
class AlignedBuffer {
 public:
  // Make room for `size` entries, which hold anything; old contents are lost if it grows. What is never written to then
  // takes no memory: a small search would spend as long on clearing pages as on counting.
  void resize(Index size) {
    if (size <= size_) return;
    storage_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size) * sizeof(T) + kAlignment);
    size_ = size;
  }
  T* data() {
    auto address = reinterpret_cast<std::uintptr_t>(storage_.get());
    return reinterpret_cast<T*>((address + kAlignment - 1) / kAlignment * kAlignment);
  }
  const T* data() const { return const_cast<AlignedBuffer*>(this)->data(); }

 private:
  static constexpr std::uintptr_t kAlignment = 64;
  std::unique_ptr<std::byte[]> storage_;
  Index size_ = 0;
};

}  // namespace interplay
