// Large random plans, and hard problems that need most of the effort.
#include <gtest/gtest.h>

#include "plan/arena.h"
#include "plan/pack/pack.h"
#include "plan/pack_problems.h"

namespace thimble::plan::pack_slow_test {
namespace {

constexpr double kMostAboveBound = 1.05;

// Times 0 to 100,000; four of five live up to 400, the others up to 10,000; sizes of all magnitudes
// from 64 B to 1 MiB.
std::vector<Buffer> random_plan(int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Buffer> buffers;
  for (int i = 0; i < count; ++i) {
    const auto lower = static_cast<int64_t>(random() % 100'000);
    const uint64_t longest = random() % 5 < 4 ? 400 : 10'000;
    const auto length = static_cast<int64_t>(1 + random() % longest);
    const uint64_t magnitude = uint64_t{32} << random() % 15;
    const auto size = static_cast<int64_t>(magnitude + random() % magnitude);
    buffers.push_back({lower, lower + length, aligned(size)});
  }
  return buffers;
}

TEST(pack_slow, packs_20000_buffers_within_five_percent) {
  for (const uint64_t seed : {1U, 2U, 3U, 4U}) {
    const std::vector<Buffer> problem = random_plan(20'000, seed);
    const Packing packing = pack(problem);
    check(problem, packing);
    EXPECT_LE(static_cast<double>(packing.peak_bytes),
              kMostAboveBound * static_cast<double>(packing.lower_bound_bytes))
        << "seed " << seed;
  }
}

TEST(pack_slow, keeps_to_its_effort_where_a_problem_is_too_hard) {
  const std::vector<Buffer> problem = cut_rectangle(300, 3);
  const Packing packing = pack(problem, {.steps = 1'000'000'000});
  check(problem, packing);
  EXPECT_GT(packing.peak_bytes, packing.lower_bound_bytes);  // else it is no test of the limit
  EXPECT_FALSE(packing.optimal);
  EXPECT_LT(packing.steps, 1'010'000'000);
  const Packing again = pack(problem, {.steps = 1'000'000'000});
  EXPECT_EQ(packing.offsets, again.offsets);
}

}  // namespace
}  // namespace thimble::plan::pack_slow_test
