#include <gtest/gtest.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include "ir/graph.h"

namespace thimble {
namespace {

TEST(graph, prints_the_open_batch_as_n) {
  Graph g;
  const Value x = g.input("image", {28, 28, 1});
  EXPECT_EQ(to_string(relu(x).shape()), "[N, 28, 28, 1]");
}

TEST(graph, fixes_the_batch_when_asked) {
  Graph g;
  const Value y = relu(g.input("image", {28, 28, 1}));
  const ir::Graph fixed = ir::with_batch(g.ir(), 32);
  EXPECT_EQ(fixed.type(y.id()).shape, (Shape{32, 28, 28, 1}));
  EXPECT_NO_THROW(ir::verify(fixed));
}

TEST(graph, refuses_a_name_twice) {
  Graph g;
  g.input("image", {4});
  EXPECT_THROW(g.label("image"), Error);
}

TEST(graph, refuses_values_of_another_graph) {
  Graph g;
  Graph other;
  EXPECT_THROW(g.output("y", relu(other.input("x", {4}))), Error);
}

TEST(graph, refuses_a_loss_that_is_no_scalar) {
  Graph g;
  EXPECT_THROW(g.minimize(relu(g.input("x", {4}))), Error);
}

}  // namespace
}  // namespace thimble
