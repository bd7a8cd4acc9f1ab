// The heap settings that the published sizes of a process assume.
#include "exec/heap.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

namespace thimble::exec::heap_test {
namespace {

// Whether malloc takes that many bytes directly from the system instead of from kept memory.
bool is_own(size_t bytes) {
  const size_t before = ::mallinfo2().hblks;
  void* volatile const block = std::malloc(bytes);
  const bool own = ::mallinfo2().hblks > before;
  std::free(block);
  return own;
}

// By default malloc keeps blocks as large as the largest that was freed. Runs in a process of its
// own, because the settings are permanent.
TEST(heap, gives_large_blocks_back_after_larger_ones) {
  EXPECT_EXIT(
      {
        hold_heap();
        const bool counts =
            is_own(size_t{24} << 20);  // false for other allocators, such as a sanitizer's
        std::_Exit(!counts || is_own(size_t{16} << 20) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace thimble::exec::heap_test
