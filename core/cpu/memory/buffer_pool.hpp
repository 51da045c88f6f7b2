// Memory that one search leaves to the next.
//
// The system hands out fresh pages one by one, cleared, each time they are first touched: for a search of milliseconds
// that is a fifth of its time. So up to 32 MB are kept.
#pragma once

#include <cstddef>

namespace interplay {

class BufferPool {
 public:
  struct Block {
    std::byte* start = nullptr;
    std::size_t size = 0;
  };

  // At least this many bytes, which hold anything. Fresh ones that are never written to take no memory.
  static Block take(std::size_t size);
  static void give_back(Block block) noexcept;
};

}  // namespace interplay
