#include <gtest/gtest.h>

#include "harness/op_run.h"
#include "harness/rebuild_cases.h"
#include "ops/families/norm/norm_cases.h"
#include "ops/families/norm/row_norm.h"

namespace thimble::test::layer_norm_test {
namespace {

OpCase normalised(const char* name, const Shape& x, int64_t dims = 1, bool gamma = true,
                  bool beta = true, double epsilon = 1e-5) {
  const Shape last = ops::last_dims(x, dims);
  const Shape first = ops::first_dims(x, dims);
  return {
      .name = name,
      .inputs = {{.shape = x}, {.shape = last, .absent = !gamma}, {.shape = last, .absent = !beta}},
      .attrs = ir::Attrs::of(LayerNormAttrs{dims, epsilon}),
      .expect = {x, first, first},
      .tolerance = kNormTolerance,
      .no_cotangent = {1, 2}};
}

}  // namespace

THIMBLE_OP_CASES(layer_norm) {
  OpCases all{
      .cases = row_norm_cases([](const char* name, const Shape& x, int64_t dims, double epsilon) {
        return normalised(name, x, dims, true, true, epsilon);
      }),
      .rejects = row_norm_rejects([](int64_t dims) { return ir::Attrs::of(LayerNormAttrs{dims}); }),
  };
  all.cases.push_back(normalised("without_parameters", {4, 33}, 1, false, false));
  all.cases.push_back(normalised("scale_alone", {4, 33}, 1, true, false));
  all.cases.push_back(normalised("shift_alone", {4, 33}, 1, false, true));
  return all;
}

THIMBLE_OP_CASES(layer_norm_apply) {
  return {.cases = rebuild_cases(
              {normalised("rows", {5, 37}), normalised("two_dimensions", {4, 3, 5}, 2),
               normalised("without_parameters", {4, 33}, 1, false, false),
               normalised("shift_alone", {4, 33}, 1, false, true), normalised("no_rows", {0, 6})},
              {0, 1, 2, ~1, ~2})};
}

TEST(layer_norm, is_made_again_bit_by_bit) {
  expect_rebuilt("layer_norm", normalised("rows", {57, 37}));
  expect_rebuilt("layer_norm", normalised("shift_alone", {4, 33}, 1, false, true));
}

TEST(layer_norm, keeps_its_accuracy_when_the_mean_is_far_from_zero) {
  const auto attrs = ir::Attrs::of(LayerNormAttrs{1, 0.0});
  const Tensor x = tensor({1, 4}, {10000, 10001, 10000, 10001});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto y = values_of<float>(run_op(
        "layer_norm", attrs, {x, tensor({4}, {1, 1, 1, 1}), tensor({4}, {0, 0, 0, 0})}, kernel)[0]);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], i % 2 == 0 ? -1.0 : 1.0, 1e-5);
  }
}

TEST(layer_norm, adds_the_parameters_asked_for) {
  Graph g;
  const Value x = g.input("x", {4, 6});
  layer_norm(x, LayerNormOptions{.dims = 2});
  EXPECT_EQ(g.ir().find_source("layer_norm_1.weight").shape(), (Shape{4, 6}));
  EXPECT_EQ(g.ir().data(g.ir().find_source("layer_norm_1.weight").id()).init, init::ones());
  EXPECT_EQ(g.ir().find_source("layer_norm_1.bias").shape(), (Shape{4, 6}));
  layer_norm(x, LayerNormOptions{.bias = false});
  EXPECT_TRUE(g.ir().find_source("layer_norm_2.weight"));
  EXPECT_FALSE(g.ir().find_source("layer_norm_2.bias"));
  layer_norm(x, LayerNormOptions{.affine = false});
  EXPECT_FALSE(g.ir().find_source("layer_norm_3.weight"));
}

}  // namespace thimble::test::layer_norm_test
