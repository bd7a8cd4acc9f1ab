#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::normalize_test {
namespace {

OpCase along(const char* name, const Shape& x, const Shape& norm, const NormalizeOptions& options,
             double gap = 0.0) {
  return {.name = name,
          .inputs = {{.shape = x, .gap = gap}},
          .attrs = ir::Attrs::of(options),
          .expect = {x, norm},
          .no_cotangent = {1}};
}

}  // namespace

THIMBLE_OP_CASES(normalize) {
  const auto attrs = [](int64_t axis, double p) {
    return ir::Attrs::of(NormalizeOptions{axis, p, 1e-12});
  };
  return {
      .cases = {along("rows", {5, 37}, {5}, {}), along("first", {7, 4}, {4}, {.axis = 0}),
                along("middle", {3, 5, 4}, {3, 4}, {.axis = 1}),
                along("magnitudes", {5, 37}, {5}, {.p = 1.0}, 0.01),
                along("cubes", {5, 6}, {5}, {.p = 3.0}),
                along("roots", {5, 6}, {5}, {.p = 0.5}, 0.1),
                along("short", {5, 6}, {5}, {.epsilon = 100.0}), along("one_axis", {9}, {}, {}),
                along("one_element", {4, 1}, {4}, {}, 0.01),
                along("many_rows", {1500, 19}, {1500}, {}), along("no_rows", {0, 4}, {0}, {}),
                along("vectors_of_nothing", {4, 0}, {4}, {})},
      .rejects =
          {{"no_such_axis", {{.shape = {3, 4}}}, attrs(2, 2.0), "there is no axis 2"},
           {"scalar", {{.shape = {}}}, attrs(-1, 2.0), "there is no axis -1"},
           {"small_p", {{.shape = {3, 4}}}, attrs(-1, 0.0), "p above 0"},
           {"integers", {{.shape = {3}, .dtype = DType::i32}}, attrs(-1, 2.0), "must be floating"}},
  };
}

TEST(normalize, of_a_row_with_no_number_is_no_number) {
  const Tensor x = tensor({2, 3}, {NAN, 2, 1, 3, 0, -4});
  const Tensor dy = tensor({2, 3}, {1, 1, 1, 1, 1, 1});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const std::vector<ir::Bytes> made =
        run_op("normalize", ir::Attrs::of(NormalizeOptions{}), {x}, kernel);
    const std::vector<float> y = values_of<float>(made[0]);
    const Tensor back{{DType::f32, {2, 3}}, made[0]};
    const std::vector<float> dx =
        values_of<float>(run_op("normalize_grad", ir::Attrs::of(NormalizeOptions{}),
                                {dy, back, {{DType::f32, {2}}, made[1]}}, kernel)[0]);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isnan(y[i]) && std::isnan(dx[i])) << i;
      EXPECT_TRUE(std::isfinite(y[i + 3]) && std::isfinite(dx[i + 3])) << i;
    }
  }
}

}  // namespace thimble::test::normalize_test
