// Constants of thimble's own that a model file brings along.
#include <gmock/gmock.h>
#include <thimble/ops.h>

#include <cmath>
#include <limits>

#include "autodiff/autodiff.h"
#include "harness/error_of.h"
#include "ir/own_constant.h"

namespace thimble::own_constant_test {
namespace {

TEST(own_constant, one_of_another_value_or_type_is_refused) {
  const auto error = [](const Array& brought) {
    Graph model;
    model.minimize(mean(square(dense(model.input("x", {2}), {.units = 2}))));
    ir::Graph graph = ir::with_batch(model.ir(), 3);
    const Value one =
        graph.own_source("@one", {brought.dtype(), brought.shape()}, ir::Role::constant);
    graph.values[static_cast<size_t>(one.id())].data = brought;
    return test::error_of([&] { (void)autodiff::append_loss_gradients(graph); });
  };
  EXPECT_EQ(error(Array(std::vector{1.0F}, {})), test::kNoError);
  for (const Array& other : {Array(std::vector{2.0F}, {}), Array(std::vector{1.0F}, {1}),
                             Array(std::vector<int32_t>{1}, {})}) {
    EXPECT_THAT(error(other), testing::HasSubstr("[@one] is thimble's own constant"));
  }
}

// Another machine's functions may round otherwise, no more.
TEST(own_constant, of_any_name_is_refused_where_its_values_are_others) {
  const float least = -std::numeric_limits<float>::infinity();
  const auto error = [&](const Array& brought, ir::Role role = ir::Role::constant) {
    ir::Graph graph;
    const Value known = graph.own_source("@table", {brought.dtype(), brought.shape()}, role);
    graph.values[static_cast<size_t>(known.id())].data = brought;
    return test::error_of([&] {
      const Value table = ir::own_constant(graph, "@table", Array(std::vector{0.25F, least}, {2}));
      EXPECT_EQ(table.id(), known.id());
    });
  };
  EXPECT_EQ(error(Array(std::vector{0.25F, least}, {2})), test::kNoError);
  EXPECT_EQ(error(Array(std::vector{0.25000003F, least}, {2})), test::kNoError);
  for (const Array& other :
       {Array(std::vector{0.2501F, least}, {2}), Array(std::vector{0.25F, -1e30F}, {2}),
        Array(std::vector{NAN, least}, {2}), Array(std::vector{0.25F, least, 0.0F}, {3}),
        Array(std::vector{0.25F, least}, {1, 2}), Array(std::vector<int32_t>{0, 1}, {2})}) {
    EXPECT_THAT(error(other), testing::AllOf(testing::HasSubstr("[@table] is thimble's own"),
                                             testing::HasSubstr("write the model file anew")));
  }
  EXPECT_THAT(error(Array(std::vector{0.25F, least}, {2}), ir::Role::input),
              testing::HasSubstr("the graph has a input f32[2]"));
}

TEST(own_constant, of_builder_functions_is_checked) {
  const auto error = [](float brought) {
    Graph model;
    const Value zero = model.ir().own_source("@number 0", {DType::f32, {}}, ir::Role::constant);
    model.ir().values[static_cast<size_t>(zero.id())].data = Array(std::vector{brought}, {});
    return test::error_of([&] {
      (void)hinge_embedding(model.input("distance", {2}), model.label("alike", {2}, DType::f32));
    });
  };
  EXPECT_EQ(error(0.0F), test::kNoError);
  EXPECT_THAT(error(3.0F), testing::HasSubstr("[@number 0] is thimble's own constant"));
}

}  // namespace
}  // namespace thimble::own_constant_test
