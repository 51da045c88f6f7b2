#include "memory/buffer_pool.hpp"

#include <mutex>
#include <new>
#include <vector>

namespace interplay {
namespace {

// Less comes from the allocator's own lists, more is not worth keeping: it belongs to searches that take long.
constexpr std::size_t kSmallest = std::size_t{1} << 15;
constexpr std::size_t kLargest = std::size_t{1} << 22;
constexpr std::size_t kMostKept = std::size_t{1} << 25;
constexpr std::size_t kMostBlocks = 64;

struct Kept {
  std::mutex mutex;
  std::vector<BufferPool::Block> blocks;  // the longest kept first
  std::size_t n_bytes = 0;

  Kept() { blocks.reserve(kMostBlocks); }
  BufferPool::Block remove(std::size_t place) {
    const BufferPool::Block block = blocks[place];
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(place));
    n_bytes -= block.size;
    return block;
  }
};

// Never destroyed: a thread may outlive static objects. Nobody waits for the lock: after a fork, the thread that held
// it may not be there to let go of it.
Kept& kept() {
  static Kept* const shared = new Kept;
  return *shared;
}

}  // namespace

BufferPool::Block BufferPool::take(std::size_t size) {
  if (size >= kSmallest && size <= kLargest) {
    Kept& pool = kept();
    if (const std::unique_lock lock(pool.mutex, std::try_to_lock); lock) {
      std::size_t best = pool.blocks.size();
      for (std::size_t i = 0; i < pool.blocks.size(); ++i) {
        const std::size_t found = pool.blocks[i].size;
        const bool fits = found >= size && found <= 2 * size;
        if (fits && (best == pool.blocks.size() || found < pool.blocks[best].size)) best = i;
      }
      if (best < pool.blocks.size()) return pool.remove(best);
    }
  }
  return {static_cast<std::byte*>(::operator new(size)), size};
}

void BufferPool::give_back(Block block) noexcept {
  if (block.size >= kSmallest && block.size <= kLargest) {
    Kept& pool = kept();
    if (const std::unique_lock lock(pool.mutex, std::try_to_lock); lock) {
      while (pool.blocks.size() == kMostBlocks || pool.n_bytes + block.size > kMostKept) {
        ::operator delete(pool.remove(0).start);
      }
      pool.n_bytes += block.size;
      pool.blocks.push_back(block);
      return;
    }
  }
  ::operator delete(block.start);
}

}  // namespace interplay
