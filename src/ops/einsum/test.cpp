#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::einsum_test {
namespace {

void expect_refused(const char* equation, const std::vector<Value>& operands, const char* why) {
  EXPECT_THAT([&] { einsum(equation, operands); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(why)))
      << equation;
}

}  // namespace

TEST(einsum, works_with_an_open_batch) {
  Graph g;
  const Value x = g.input("x", {4, 3});
  const Value w = g.parameter("w", {3, 2}, init::zeros());
  EXPECT_EQ(einsum("btd,de->bte", {x, w}).shape(), (Shape{kBatch, 4, 2}));
  EXPECT_EQ(einsum("btd,bsd->bts", {x, x}).shape(), (Shape{kBatch, 4, 4}));
  EXPECT_EQ(einsum("btd,btd->bt", {x, x}).shape(), (Shape{kBatch, 4}));
  EXPECT_EQ(einsum("...d,de", {x, w}).shape(), (Shape{kBatch, 4, 2}));
}

// Operands whose layout matmul can read are not transposed.
TEST(einsum, transposes_nothing_without_need) {
  Graph g;
  const Value a = g.input("a", {4, 3});
  const Value b = g.input("b", {5, 3});
  einsum("bid,bjd->bij", {a, b});
  for (const ir::Node& node : g.ir().nodes) EXPECT_STRNE(node.op->name, "transpose");
}

TEST(einsum, refuses_what_it_does_not_understand) {
  Graph g;
  const Value x = g.constant("x", {2, 3}, std::vector<float>(6, 1.0F));
  expect_refused("ii->i", {x}, "has the sizes 2 and 3");
  expect_refused("ii->i", {g.constant("y", {1, 3}, {1.0F, 2.0F, 3.0F})}, "with two sizes");
  expect_refused("ij->ii", {x}, "axis i occurs twice in the result");
  expect_refused("ij,jk->ik", {x}, "speaks of 2 operands, got 1");
  expect_refused("ijk->i", {x}, "operand 1 has 2 dimensions");
  expect_refused("i->i", {x}, "operand 1 has 2 dimensions");
  expect_refused("ij->k", {x}, "axis k is in no operand");
  expect_refused("i1->i", {x}, "'1' is no axis");
  expect_refused("ij,jk->ik", {x, x}, "has the sizes 3 and 2");
}

}  // namespace thimble::test::einsum_test
