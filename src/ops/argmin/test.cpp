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

THIMBLE_OP_CASES(argmin) {
  return {
      .cases = {{"classes", {{.shape = {3, 10}}}, along(-1), {{3}}},
                {"first_kept", {{.shape = {7, 3}}}, along(0, true), {{1, 3}}},
                {"middle", {{.shape = {3, 5, 4}}}, along(1), {{3, 4}}},
                {"batch_of_1", {{.shape = {1, 4}}}, along(1), {{1}}},
                {"one_axis", {{.shape = {6}}}, along(0), {{}}},
                {"no_rows", {{.shape = {0, 3}}}, along(1), {{0}}}},
      .rejects = {{"empty_axis", {{.shape = {3, 0}}}, along(1), "no smallest element"},
                  {"no_such_axis", {{.shape = {3}}}, along(1), "there is no axis 1"},
                  {"scalar", {{.shape = {}}}, along(-1), "there is no axis -1"},
                  {"integers", {{.shape = {3}, .dtype = DType::i32}}, along(0), "of type f32"}},
  };
}

TEST(argmin, gives_the_first_of_equals_and_of_nan) {
  const Tensor x = tensor({3, 3}, {5, 2, 2, 1, NAN, NAN, NAN, 9, 1});
  EXPECT_EQ(values_of<int32_t>(run_op("argmin", along(1), {x}, Kernel::fast)[0]),
            (std::vector<int32_t>{1, 1, 0}));
}

}  // namespace thimble::test
