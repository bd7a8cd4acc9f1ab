#include "exec/accounting.h"

#include <gtest/gtest.h>

#include "exec/memory.h"
#include "parallel/thread.h"

namespace thimble::exec::accounting_test {
namespace {

TEST(accounting, counts_blocks_and_keeps_the_most) {
  const auto account = std::make_shared<Account>();
  {
    const Counting counting(account);
    Block first(1000);
    { const Block second(500); }
    EXPECT_EQ(account->held(), 1000);
    EXPECT_EQ(account->peak(), 1500);
    first = {};
    EXPECT_EQ(account->held(), 0);
    first = Block(200);
    const Block moved = std::move(first);
    EXPECT_EQ(account->held(), 200);
  }
  EXPECT_EQ(account->held(), 0);
  EXPECT_EQ(account->peak(), 1500);
}

TEST(accounting, counts_in_the_account_that_was_open_when_memory_was_taken) {
  const auto outer = std::make_shared<Account>();
  const auto inner = std::make_shared<Account>();
  Held stays;
  {
    const Counting counting(outer);
    {
      const Counting nested(inner);
      stays = Held(7);
    }
    const Held own(11);
    EXPECT_EQ(outer->held(), 11);
  }
  EXPECT_EQ(inner->held(), 7);
  const Held uncounted(100);
  EXPECT_EQ(outer->peak() + inner->peak(), 18);
  stays = {};
  EXPECT_EQ(inner->held(), 0);
}

TEST(accounting, belongs_to_the_thread_that_opened_it) {
  const auto account = std::make_shared<Account>();
  const Counting counting(account);
  parallel::Thread other([] { const Held uncounted(64); });
  other.join();
  EXPECT_EQ(account->peak(), 0);
}

TEST(accounting, ends_with_its_last_block) {
  Block block;
  {
    const auto account = std::make_shared<Account>();
    const Counting counting(account);
    block = Block(64);
  }
  block = {};
}

TEST(thread, has_the_published_stack) {
  int64_t bytes = 0;
  parallel::Thread thread([&bytes] {
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    bytes = static_cast<int64_t>(size);
  });
  EXPECT_TRUE(thread.joinable());
  thread.join();
  EXPECT_FALSE(thread.joinable());
  EXPECT_EQ(bytes, parallel::kStackBytes);
}

}  // namespace
}  // namespace thimble::exec::accounting_test
