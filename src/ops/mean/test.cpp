#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autodiff/autodiff.h"
#include "harness/op_cases.h"

namespace thimble::test::mean_test {
namespace {

ir::Attrs over(std::vector<int64_t> axes, bool keepdims = false) {
  return ir::Attrs::of(ReduceOptions{std::move(axes), keepdims});
}

}  // namespace

THIMBLE_OP_CASES(mean) {
  return {
      .cases =
          {
              {"all", {{.shape = {3, 4, 5}}}, over({}), {{}}},
              {"all_kept", {{.shape = {3, 4}}}, over({}, true), {{1, 1}}},
              {"last", {{.shape = {3, 37}}}, over({-1}), {{3}}},
              {"first_kept", {{.shape = {37, 5}}}, over({0}, true), {{1, 5}}},
              {"spatial", {{.shape = {3, 6, 7, 5}}}, over({1, 2}), {{3, 5}}},
              {"interleaved", {{.shape = {3, 4, 5, 6}}}, over({0, 2}), {{4, 6}}},
              {"size_1", {{.shape = {1, 5, 1}}}, over({0, 2}), {{5}}},
              {"scalar", {{.shape = {}}}, over({}), {{}}},
              {.name = "of_nothing",
               .inputs = {{.shape = {3, 0}}},
               .attrs = over({1}),
               .expect = {{3}},
               .no_grad = {0}},
              {"no_result", {{.shape = {3, 0}}}, over({0}), {{0}}},
              {"long", {{.shape = {50001}}}, over({}), {{}}},
          },
      .rejects =
          {
              {"no_such_axis", {{.shape = {3, 4}}}, over({2}), "there is no axis 2"},
              {"integers", {{.shape = {3}, .dtype = DType::i32}}, over({}), "must be floating"},
          },
  };
}

namespace {

// Files may hold gradient ops with any attributes.
TEST(mean, has_a_gradient_of_the_shape_of_its_result_alone) {
  Graph g;
  const Value x = g.constant("x", {2, 3, 4}, std::vector<float>(24));
  const Value y = mean(x, {.axes = {1}});
  const autodiff::Cotangent seed{y, y};
  const int wanted[] = {x.id()};
  static_cast<void>(autodiff::append_gradients(g.ir(), {&seed, 1}, wanted));
  const ir::Node gradient = g.ir().nodes.back();
  ASSERT_STREQ(gradient.op->name, "mean_grad");
  const Value small = g.constant("small", {2, 3}, std::vector<float>(6));
  EXPECT_NO_THROW(g.ir().add1(*gradient.op, gradient.attrs, {y}));
  EXPECT_THAT([&] { g.ir().add1(*gradient.op, gradient.attrs, {small}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("the shape of mean's result")));
}

}  // namespace
}  // namespace thimble::test::mean_test
