// Canaries: the checks of kernel_testing.h must catch wrong kernels.
#include "simd/kernel_testing.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

namespace thimble::testing::kernel_testing_test {
namespace {

TEST(KernelTesting, notices_a_write_just_outside_a_buffer) {
  Guarded behind(5);
  behind.data()[5] = 0.0f;
  EXPECT_FALSE(behind.intact());
  Guarded before(5);
  before.data()[-1] = 0.0f;
  EXPECT_FALSE(before.intact());
  EXPECT_TRUE(Guarded(5).intact());
}

TEST(KernelTesting, notices_one_missing_product_and_one_unwritten_result) {
  // The sum of 25 products, one of them left out: far beyond the tolerance of rounding.
  EXPECT_FATAL_FAILURE(expect_close(Guarded(1, 24 * 0.01f), {25 * 0.01}, sum_tolerance(25), "sum"),
                       "element 0");
  EXPECT_FATAL_FAILURE(expect_close(Guarded(1, std::nanf("")), {0.25}, sum_tolerance(25), "sum"),
                       "element 0");
}

TEST(KernelTesting, runs_each_usable_target_once) {
  std::vector<std::string> names;
  for_each_target([&](const std::string& name) { names.push_back(name); });
  ASSERT_FALSE(names.empty());
  for (size_t i = 1; i < names.size(); ++i) EXPECT_NE(names[i - 1], names[i]);
  // scripts/test.sh repeats this line for each build.
  std::string line = "Vector targets:";
  for (const std::string& name : names) line += " " + name;
  std::cout << line << std::endl;
}

TEST(KernelTesting, tells_bits_apart_that_compare_equal) {
  EXPECT_FALSE(same_bits(Guarded(1, 0.0f), Guarded(1, -0.0f)));
}

}  // namespace
}  // namespace thimble::testing::kernel_testing_test
