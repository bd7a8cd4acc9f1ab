#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autodiff/autodiff.h"
#include "harness/op_run.h"
#include "ops/families/update/adaptive_cases.h"

namespace thimble::test::adaptive_max_pool2d_test {

THIMBLE_OP_CASES(adaptive_max_pool2d) {
  return adaptive_cases([](Pair size) { return ir::Attrs::of(AdaptiveMaxPool2dOptions{size}); }, 2);
}

namespace {

TEST(adaptive_max_pool2d, is_ordinary_pooling_where_sizes_divide) {
  Graph g;
  const Value x = g.input("x", {6, 4, 3});
  EXPECT_EQ(to_string(adaptive_max_pool2d(x, {.size = {3, 2}}).shape()), "[N, 3, 2, 3]");
  EXPECT_STREQ(g.ir().nodes.back().op->name, "max_pool2d");
  EXPECT_EQ(to_string(adaptive_max_pool2d(x, {.size = {4, 2}}).shape()), "[N, 4, 2, 3]");
  EXPECT_STREQ(g.ir().nodes.back().op->name, "adaptive_max_pool2d");
}

// A file may hold any cells, which must not lead the gradient out of its image.
TEST(adaptive_max_pool2d, has_no_gradient_at_cells_outside_the_image) {
  Graph g;
  const Value x = g.input("x", {5, 4, 1});
  const std::vector<Value> pooled =
      g.ir().add(*ir::find_op("adaptive_max_pool2d"),
                 ir::Attrs::of(AdaptiveMaxPool2dOptions{{2, 3}}), {&x, 1});
  const autodiff::Cotangent seed{pooled[0], pooled[0]};
  const int wanted[] = {x.id()};
  static_cast<void>(autodiff::append_gradients(g.ir(), {&seed, 1}, wanted));
  const ir::Node& gradient = g.ir().nodes.back();
  ASSERT_STREQ(gradient.op->name, "adaptive_max_pool2d_grad");
  const Shape shape{1, 2, 3, 1};
  for (const int32_t cell : {-1, 20, INT32_MIN, INT32_MAX}) {
    for (const Kernel which : {Kernel::reference, Kernel::fast}) {
      const auto dx = run_op(*gradient.op, gradient.attrs,
                             {tensor(shape, std::vector<float>(6, 1.0F)),
                              tensor(DType::i32, shape, std::vector<int32_t>(6, cell))},
                             which);
      EXPECT_EQ(dx[0], tensor({20}, std::vector<float>(20)).bytes) << cell;
    }
  }
}

TEST(adaptive_max_pool1d, pools_sequences) {
  Graph g;
  EXPECT_EQ(to_string(adaptive_max_pool1d(g.input("x", {7, 3}), {.size = 4}).shape()), "[N, 4, 3]");
  EXPECT_THAT([&] { adaptive_max_pool1d(g.input("v", {7})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("sequences [N, L, C]")));
}

TEST(adaptive_max_pool3d, pools_volumes) {
  Graph g;
  const Value x = g.input("x", {7, 5, 4, 3});
  EXPECT_EQ(to_string(adaptive_max_pool3d(x, {.size = {4}}).shape()), "[N, 4, 4, 4, 3]");
  EXPECT_EQ(to_string(adaptive_max_pool3d(x, {.size = {0, 2, 0}}).shape()), "[N, 7, 2, 4, 3]");
  const auto both = adaptive_max_pool3d_with_indices(x, {.size = {2, 0, 1}});
  EXPECT_EQ(to_string(both.y.shape()), "[N, 2, 5, 1, 3]");
  EXPECT_EQ(to_string(both.index.shape()), "[N, 2, 5, 1, 3]");
}

TEST(adaptive_max_pool3d, refuses_what_does_not_fit) {
  Graph g;
  const auto expect_error = [&](const Shape& shape, const AdaptiveMaxPool3dOptions& options,
                                const char* message) {
    const Value x = g.constant(message, shape, std::vector<float>(shape.elements()));
    for (const bool with_indices : {false, true}) {
      EXPECT_THAT(
          [&] {
            if (with_indices) {
              adaptive_max_pool3d_with_indices(x, options);
            } else {
              adaptive_max_pool3d(x, options);
            }
          },
          testing::ThrowsMessage<Error>(testing::AllOf(testing::HasSubstr("[adaptive_max_pool3d]"),
                                                       testing::HasSubstr(message))));
    }
  };
  expect_error({1, 4, 4, 2}, {}, "volumes [N, D, H, W, C]");
  expect_error({1, 4, 4, 4, 2}, {.size = {1, 2}}, "got 2 numbers");
  expect_error({1, 4, 4, 4, 2}, {.size = {-1}}, "size of at least 0");
  expect_error({1, 0, 4, 4, 2}, {}, "at least 1 by 1 by 1");
}

}  // namespace
}  // namespace thimble::test::adaptive_max_pool2d_test
