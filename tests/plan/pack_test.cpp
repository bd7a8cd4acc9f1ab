#include "plan/pack/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>

#include <limits>

#include "plan/pack_problems.h"

namespace thimble::plan::pack_test {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

// The message of the Error that packing throws, "" if it throws none.
std::string error_of(const std::vector<Buffer>& buffers) {
  try {
    (void)pack(buffers);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string check_error(const std::vector<Buffer>& buffers, std::vector<int64_t> offsets,
                        int64_t peak) {
  Packing packing;
  packing.offsets = std::move(offsets);
  packing.peak_bytes = peak;
  try {
    check(buffers, packing);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(pack, needs_nothing_for_no_buffers) {
  const Packing packing = pack({});
  EXPECT_EQ(packing.peak_bytes, 0);
  EXPECT_EQ(packing.lower_bound_bytes, 0);
  EXPECT_TRUE(packing.optimal);
}

TEST(pack, reuses_the_place_of_a_dead_buffer) {
  const std::vector<Buffer> buffers = {{0, 3, 4}, {3, 9, 4}, {0, 9, 4}, {9, 21, 4}, {0, 21, 4}};
  const Packing packing = pack(buffers);
  check(buffers, packing);
  EXPECT_EQ(packing.peak_bytes, 12);
  EXPECT_TRUE(packing.optimal);
}

TEST(pack, finds_what_greedy_packing_misses) {
  const std::vector<Buffer> problem = cut_rectangle(60, 2);
  const Packing greedy = pack(problem, {.steps = 0});
  const Packing searched = pack(problem);
  check(problem, greedy);
  check(problem, searched);
  EXPECT_GT(greedy.peak_bytes, greedy.lower_bound_bytes);
  EXPECT_EQ(searched.peak_bytes, searched.lower_bound_bytes);
}

TEST(pack, gives_empty_buffers_no_room) {
  const std::vector<Buffer> buffers = {{0, 2, 0}, {0, 2, 8, 8}, {1, 2, 0, 64}};
  const Packing packing = pack(buffers);
  check(buffers, packing);
  EXPECT_EQ(packing.peak_bytes, 8);
}

TEST(pack, keeps_every_alignment) {
  const std::vector<Buffer> buffers = {{0, 4, 3, 1}, {0, 4, 5, 4}, {1, 3, 7, 16}, {2, 4, 1, 64}};
  const Packing packing = pack(buffers);
  check(buffers, packing);
  EXPECT_EQ(packing.lower_bound_bytes, 16);
  EXPECT_LE(packing.peak_bytes, 65);
}

TEST(pack, takes_sizes_and_times_near_the_limit) {
  const int64_t large = int64_t{1} << 59;
  const std::vector<Buffer> buffers = {
      {-large, large, large}, {-large, 0, large / 2}, {0, large, large / 2}, {5, 6, 1}};
  const Packing packing = pack(buffers);
  check(buffers, packing);
  EXPECT_EQ(packing.peak_bytes, large + large / 2 + 1);
}

TEST(pack, rejects_invalid_problems) {
  EXPECT_THAT(error_of({{0, 1, 1}, {3, 3, 1}}), HasSubstr("buffer 1: lower 3 is not below upper"));
  EXPECT_THAT(error_of({{4, 3, 1}}), HasSubstr("buffer 0: lower 4 is not below upper 3"));
  EXPECT_THAT(error_of({{0, 1, -1}}), HasSubstr("size -1 is negative"));
  EXPECT_THAT(error_of({{0, 1, 1, 0}}), HasSubstr("alignment 0"));
  EXPECT_THAT(error_of({{0, 1, 1, kLargest}}), HasSubstr("alignment 9223372036854775807"));
  EXPECT_THAT(error_of({{0, 1, kLargest}}), HasSubstr("61 bits"));
  EXPECT_THAT(error_of({{0, 1, kLargest / 6}, {5, 6, kLargest / 6}}),
              HasSubstr("buffer 1: the sum of sizes up to here does not fit 61 bits"));
  EXPECT_THAT(error_of({{-kLargest - 1, kLargest, 1}}), HasSubstr("times exceed 61 bits"));
}

// Guards against differences between machines: unstable sorting, hashed addresses, contracted
// floating point, clocks. The numbers change only with the algorithm.
TEST(pack, gives_the_same_offsets_on_every_machine) {
  const std::vector<Buffer> problem = cut_rectangle(150, 3);
  const Packing packing = pack(problem, {.steps = 50'000'000});
  check(problem, packing);
  uint64_t digest = 0;
  for (int64_t offset : packing.offsets) {
    digest = digest * 6364136223846793005U + static_cast<uint64_t>(offset);
  }
  EXPECT_EQ(packing.peak_bytes, 1005);
  EXPECT_EQ(digest, 17048392770358944733U);
}

TEST(pack, keeps_to_its_effort) {
  const std::vector<Buffer> problem = cut_rectangle(150, 3);
  for (const int64_t steps : {0, 1'000'000, 50'000'000}) {
    // One greedy packing and one look at the state go on beyond the limit.
    EXPECT_LT(pack(problem, {.steps = steps}).steps, steps + 2'000'000);
  }
}

TEST(pack, splits_the_problem_at_times_when_nothing_is_alive) {
  std::vector<Buffer> buffers = cut_rectangle(60, 2);
  ASSERT_EQ(pack(buffers).peak_bytes, 1000);
  for (const Buffer& b : cut_rectangle(60, 2)) {
    buffers.push_back({b.lower + 1000, b.upper + 1000, b.size});
  }
  const Packing packing = pack(buffers);
  check(buffers, packing);
  EXPECT_EQ(packing.peak_bytes, 1000);
}

TEST(check_packing, finds_every_fault) {
  const std::vector<Buffer> buffers = {{0, 4, 8}, {2, 6, 8, 4}, {4, 5, 2}};
  EXPECT_EQ(check_error(buffers, {0, 8, 0}, 16), "");
  EXPECT_THAT(check_error(buffers, {0, 4, 0}, 12), HasSubstr("buffers 0 and 1 are alive together"));
  EXPECT_THAT(check_error(buffers, {0, 8, 15}, 17), HasSubstr("buffers 1 and 2"));
  EXPECT_THAT(check_error(buffers, {0, 10, 0}, 18), HasSubstr("buffer 1: offset 10"));
  EXPECT_THAT(check_error(buffers, {-1, 8, 0}, 16), HasSubstr("buffer 0: offset -1"));
  EXPECT_THAT(check_error(buffers, {0, 8, 0}, 15), HasSubstr("the peak is 16, not 15"));
  EXPECT_THAT(check_error(buffers, {0, 8}, 16), HasSubstr("2 offsets for 3 buffers"));
}

}  // namespace
}  // namespace thimble::plan::pack_test
