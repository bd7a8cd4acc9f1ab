// Constants of thimble's own that a model file brings along.
#include <gmock/gmock.h>
#include <thimble/ops.h>

#include "autodiff/autodiff.h"
#include "harness/error_of.h"

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

}  // namespace
}  // namespace thimble::own_constant_test
