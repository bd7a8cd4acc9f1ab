#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::time_distributed_test {

TEST(time_distributed, applies_one_layer_to_every_step) {
  Graph g;
  const Value x = g.input("video", {5, 8, 8, 1});
  const Value y = time_distributed(x, [](Value frame) {
    EXPECT_EQ(frame.shape().rank(), 4);
    return dense(flatten(conv2d(frame, {.channels = 2, .kernel = 3, .name = "c"})),
                 {.units = 3, .name = "d"});
  });
  EXPECT_EQ(y.shape(), (Shape{kBatch, 5, 3}));
  EXPECT_EQ(g.ir().find_source("c.weight").shape(), (Shape{2, 3, 3, 1}));
  EXPECT_EQ(g.ir().find_source("d.weight").shape(), (Shape{3, 72}));
}

TEST(time_distributed, keeps_steps_in_their_place) {
  Graph g;
  const Value x = g.constant("x", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Value y = time_distributed(x, [](Value step) { return sum(step, {.axes = {1}}); });
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(evaluate(y), (std::vector<float>{3, 7, 11, 15}));
}

TEST(time_distributed, refuses_vectors_and_functions_that_drop_steps) {
  Graph g;
  const auto same = [](Value v) { return v; };
  EXPECT_THROW(time_distributed(g.input("scalars", {}), same), Error);
  EXPECT_THROW(time_distributed(g.input("x", {4, 2}), [](Value v) { return sum(v); }), Error);
}

}  // namespace thimble::test::time_distributed_test
