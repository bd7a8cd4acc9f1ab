#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/argmax/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs along(int64_t axis, bool keepdims = false) {
  return ir::Attrs::of(ArgmaxOptions{axis, keepdims});
}

}  // namespace

THIMBLE_OP_CASES(argmax) {
  return {
      .cases =
          {{"classes", {{.shape = {3, 10}}}, along(-1), {{3}}},
           {"first_kept", {{.shape = {7, 3}}}, along(0, true), {{1, 3}}},
           {"middle", {{.shape = {3, 5, 4}}}, along(1), {{3, 4}}},
           {"batch_of_1", {{.shape = {1, 4}}}, along(1), {{1}}},
           {"one_axis", {{.shape = {6}}}, along(0), {{}}},
           {"long_rows", {{.shape = {3, 1001}}}, along(1), {{3}}},
           {"many_rows", {{.shape = {701, 17}}}, along(1), {{701}}},
           {"many_equals", {{.shape = {50, 99}, .low = 0.5, .high = 0.50001}}, along(1), {{50}}},
           {"no_rows", {{.shape = {0, 3}}}, along(1), {{0}}}},
      .rejects = {{"empty_axis", {{.shape = {3, 0}}}, along(1), "no largest element"},
                  {"no_such_axis", {{.shape = {3}}}, along(1), "there is no axis 1"},
                  {"scalar", {{.shape = {}}}, along(-1), "there is no axis -1"},
                  {"integers", {{.shape = {3}, .dtype = DType::i32}}, along(0), "of type f32"}},
  };
}

TEST(argmax, gives_the_first_of_equals_and_of_nan) {
  const Tensor x = tensor({3, 3}, {2, 5, 5, 1, NAN, NAN, NAN, 9, 1});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    EXPECT_EQ(values_of<int32_t>(run_op("argmax", along(1), {x}, kernel)[0]),
              (std::vector<int32_t>{1, 1, 0}));
  }
}

TEST(argmax, finds_nan_and_the_infinite_wherever_they_are) {
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    for (const float odd : {NAN, INFINITY}) {
      for (const int32_t place : {0, 5, 16, 47, 70}) {
        std::vector<float> x(71, -INFINITY);
        x[static_cast<size_t>(place)] = odd;
        x[70] = odd;
        EXPECT_EQ(values_of<int32_t>(run_op("argmax", along(1), {tensor({1, 71}, x)}, kernel)[0]),
                  std::vector<int32_t>{place});
      }
    }
    const Tensor least = tensor({1, 20}, std::vector<float>(20, -INFINITY));
    EXPECT_EQ(values_of<int32_t>(run_op("argmax", along(1), {least}, kernel)[0]),
              std::vector<int32_t>{0});
  }
}

}  // namespace thimble::test
