#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::cummax_test {
namespace {

OpCases cumulative() {
  const auto attrs = [](int64_t axis) { return ir::Attrs::of(CummaxOptions{axis}); };
  const auto of = [&](const char* name, const Shape& x, int64_t axis) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .distinct = true}},
                  .attrs = attrs(axis),
                  .expect = {x, x}};
  };
  return {
      .cases = {of("last", {3, 10}, -1), of("first", {10, 4}, 0), of("middle", {3, 7, 4}, 1),
                of("one", {3, 1}, 1), of("many_lines", {700, 40}, 1), of("vector", {3000}, 0),
                of("no_lines", {0, 4}, 1), of("empty_lines", {4, 0}, 1)},
      .rejects =
          {{"no_such_axis", {{.shape = {4}}}, attrs(1), "there is no axis 1"},
           {"scalar", {{.shape = {}}}, attrs(-1), "there is no axis -1"},
           {"integers", {{.shape = {4}, .dtype = DType::i32}}, attrs(0), "must be floating"}},
  };
}

}  // namespace

THIMBLE_OP_CASES(cummax) { return cumulative(); }
THIMBLE_OP_CASES(cummin) { return cumulative(); }

TEST(cummax, takes_the_last_of_equals_and_stays_at_nan) {
  const Tensor x = tensor({7}, {1, 1, 0, 2, NAN, 3, NAN});
  const auto run = [&](const char* op) {
    return values_of<int32_t>(run_op(op, ir::Attrs::of(CummaxOptions{}), {x}, Kernel::fast)[1]);
  };
  EXPECT_EQ(run("cummax"), (std::vector<int32_t>{0, 1, 1, 3, 4, 4, 6}));
  EXPECT_EQ(run("cummin"), (std::vector<int32_t>{0, 1, 2, 2, 4, 4, 6}));
}

}  // namespace thimble::test::cummax_test
