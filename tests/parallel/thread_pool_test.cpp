#include "parallel/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace thimble::parallel::thread_pool_test {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, runs_every_task_exactly_once) {
  ThreadPool pool(GetParam());
  for (int64_t tasks : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<int> runs(static_cast<size_t>(tasks), 0);
    pool.run(tasks, [&](int64_t task) { ++runs[static_cast<size_t>(task)]; });
    for (int count : runs) ASSERT_EQ(count, 1) << tasks << " tasks";
  }
}

TEST_P(ThreadPoolTest, sees_what_the_run_before_has_written) {
  ThreadPool pool(GetParam());
  constexpr int64_t kTasks = 16;
  std::vector<int64_t> values(kTasks, 0);
  for (int round = 0; round < 2000; ++round) {
    // Each task reads its neighbour's value of the round before: a lost update would show.
    std::vector<int64_t> next(kTasks);
    pool.run(kTasks, [&](int64_t task) {
      next[static_cast<size_t>(task)] = values[static_cast<size_t>((task + 1) % kTasks)] + 1;
    });
    values.swap(next);
  }
  for (int64_t value : values) EXPECT_EQ(value, 2000);
}

TEST_P(ThreadPoolTest, gives_each_thread_its_own_number) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int>> busy(static_cast<size_t>(pool.threads()));
  std::atomic<bool> clash{false};
  for (int round = 0; round < 200; ++round) {
    pool.run_with_worker(32, [&](int64_t, int worker) {
      auto& mine = busy[static_cast<size_t>(worker)];
      if (mine.fetch_add(1) != 0) clash = true;
      mine.fetch_sub(1);
    });
  }
  EXPECT_FALSE(clash);
}

TEST_P(ThreadPoolTest, wakes_workers_that_have_gone_to_sleep) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int64_t> sum{0};
    pool.run(100, [&](int64_t task) { sum += task; });
    EXPECT_EQ(sum, 4950);
  }
}

INSTANTIATE_TEST_SUITE_P(threads, ThreadPoolTest, testing::Values(1, 2, 3, 4, 9));

TEST(ThreadPool, shares_the_work_among_its_threads) {
  ThreadPool pool(3);
  // Each task waits until all three are running: this ends only if three threads take part.
  std::atomic<int> arrived{0};
  pool.run(3, [&](int64_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

TEST(ThreadPool, runs_one_task_on_the_calling_thread) {
  ThreadPool pool(4);
  std::thread::id runner;
  pool.run(1, [&](int64_t) { runner = std::this_thread::get_id(); });
  EXPECT_EQ(runner, std::this_thread::get_id());
}

TEST(ThreadPool, uses_every_processor_when_asked_for_zero_threads) {
  EXPECT_EQ(ThreadPool(0).threads(),
            static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace thimble::parallel::thread_pool_test
