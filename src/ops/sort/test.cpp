#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/sort.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "harness/op_run.h"
#include "ir/graph.h"

namespace thimble::test::sort_test {
namespace {

// 40 lines of 300 numbers, many of which are equal.
std::vector<float> numbers() {
  std::vector<float> x(40 * 300);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 101);
  return x;
}

TEST(sort, is_stable_both_ways) {
  const std::vector<float> x = numbers();
  for (const bool descending : {false, true}) {
    Graph g;
    const Sorted sorted = sort(g.constant("x", {40, 300}, x), {.descending = descending});
    const std::vector<float> values = evaluate(sorted.values);
    for (size_t line = 0; line < 40; ++line) {
      const auto begin = x.begin() + static_cast<ptrdiff_t>(line * 300);
      std::vector<float> expected(begin, begin + 300);
      std::stable_sort(expected.begin(), expected.end(),
                       [&](float a, float b) { return descending ? a > b : a < b; });
      const auto ours = values.begin() + static_cast<ptrdiff_t>(line * 300);
      EXPECT_EQ(std::vector<float>(ours, ours + 300), expected) << "line " << line;
    }
  }
}

TEST(sort, refuses_what_has_no_order) {
  Graph g;
  const Value x = g.input("x", {4});
  EXPECT_THAT([&] { sort(x, {.axis = 0}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("open batch")));
  EXPECT_THAT([&] { sort(x, {.axis = 2}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("there is no axis 2")));
}

TEST(argsort, gives_the_places_of_the_sorted_values) {
  Graph g;
  const Value x = g.constant("x", {5}, {3, 1, 2, 1, 0});
  EXPECT_EQ(evaluate(cast(argsort(x), DType::f32)), (std::vector<float>{4, 1, 3, 2, 0}));
}

}  // namespace
}  // namespace thimble::test::sort_test
