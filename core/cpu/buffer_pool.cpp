#include "interplay/buffer_pool.hpp"

#include <array>
#include <mutex>
#include <new>
#include <utility>

namespace interplay {
namespace {

// Less comes from the allocator's own lists, more is not worth keeping: it belongs to searches that take long.
constexpr std::size_t kSmallest = std::size_t{1} << 15;
constexpr std::size_t kLargest = std::size_t{1} << 22;
constexpr std::size_t kMostKept = std::size_t{1} << 25;

struct Kept {
  std::mutex mutex;
  std::array<BufferPool::Block, 64> blocks{};
  std::size_t n_blocks = 0;
  std::size_t n_bytes = 0;
};

// Never destroyed: a thread may outlive static objects. Nobody waits for the lock: after a fork, the thread that held it
// may not be there to let go of it.
Kept& kept() {
  static Kept* const shared = new Kept;
  return *shared;
}

}  // namespace

BufferPool::Block BufferPool::take(std::size_t size) {
  if (size >= kSmallest && size <= kLargest) {
    Kept& pool = kept();
    const std::unique_lock lock(pool.mutex, std::try_to_lock);
    Block* fitting = nullptr;
    for (std::size_t i = 0; lock && i < pool.n_blocks; ++i) {
      Block& block = pool.blocks[i];
      if (block.size >= size && block.size <= 2 * size && (!fitting || block.size < fitting->size)) fitting = &block;
    }
    if (fitting) {
      pool.n_bytes -= fitting->size;
      return std::exchange(*fitting, pool.blocks[--pool.n_blocks]);
    }
  }
  return {static_cast<std::byte*>(::operator new(size)), size};
}

void BufferPool::give_back(Block block) noexcept {
  if (block.size >= kSmallest && block.size <= kLargest) {
    Kept& pool = kept();
    const std::unique_lock lock(pool.mutex, std::try_to_lock);
    if (lock && pool.n_blocks < pool.blocks.size() && pool.n_bytes + block.size <= kMostKept) {
      pool.n_bytes += block.size;
      pool.blocks[pool.n_blocks++] = block;
      return;
    }
  }
  ::operator delete(block.start);
}

}  // namespace interplay
