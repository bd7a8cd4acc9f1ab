#include "data/sample_numbers.h"

#include <gmock/gmock.h>
#include <thimble/data_loader.h>

#include <numeric>

namespace thimble::data::sample_numbers_test {
namespace {

TEST(sample_numbers, takes_as_few_bytes_as_hold_the_largest) {
  struct Case {
    int64_t below, each;
  };
  for (const Case& c : {Case{1, 2}, Case{65536, 2}, Case{65537, 4}, Case{int64_t{1} << 32, 4},
                        Case{(int64_t{1} << 32) + 1, 8}}) {
    SampleNumbers numbers(3, c.below);
    EXPECT_EQ(numbers.bytes(), 3 * c.each) << c.below;
    EXPECT_EQ(SampleNumbers::bytes(3, c.below), numbers.bytes());
    EXPECT_EQ(numbers.size(), 3);
    numbers.set(1, c.below - 1);
    EXPECT_EQ(numbers[1], c.below - 1);
    EXPECT_EQ(numbers[0] + numbers[2], 0);
  }
}

// Below and above the change of width: the order is part of a run's identity.
TEST(sample_numbers, shuffles_as_numbers_of_full_width_do) {
  for (const int64_t size :
       {int64_t{0}, int64_t{1}, int64_t{1000}, int64_t{65536}, int64_t{70000}}) {
    std::vector<int64_t> expected(static_cast<size_t>(size));
    std::iota(expected.begin(), expected.end(), 0);
    shuffle(std::span(expected), Random(17));
    SampleNumbers numbers(size, size);
    numbers.fill_shuffled(Random(17));
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(numbers[i], expected[static_cast<size_t>(i)]);
  }
}

}  // namespace
}  // namespace thimble::data::sample_numbers_test
