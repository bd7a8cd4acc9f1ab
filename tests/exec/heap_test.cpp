// The heap of a process that is held to what its published sizes assume.
#include "exec/heap.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

namespace thimble::exec::heap_test {
namespace {

// Whether malloc takes that many bytes from the system, to give them back, and not from what it
// keeps.
bool is_own(size_t bytes) {
  const size_t before = ::mallinfo2().hblks;
  void* volatile const block = std::malloc(bytes);
  const bool own = ::mallinfo2().hblks > before;
  std::free(block);
  return own;
}

// Malloc by itself keeps blocks up to the size of the largest that was freed. In a process of its
// own, because such settings stay.
TEST(heap, held_gives_large_blocks_back_after_larger_ones) {
  EXPECT_EXIT(
      {
        hold_heap();
        const bool counts = is_own(size_t{24} << 20);  // else a sanitizer's malloc, say
        std::_Exit(!counts || is_own(size_t{16} << 20) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace thimble::exec::heap_test
