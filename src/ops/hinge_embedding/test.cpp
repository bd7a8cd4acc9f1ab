#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::hinge_embedding_test {
namespace {

TEST(hinge_embedding, is_one_number_or_the_terms) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4});
  EXPECT_EQ(to_string(hinge_embedding(x, t).shape()), "[]");
  EXPECT_EQ(to_string(hinge_embedding(x, t, {.reduction = Reduction::none}).shape()), "[N, 4]");
}

TEST(hinge_embedding, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT([&] { hinge_embedding(g.input("a", {3}), g.input("b", {4})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("shape")));
}

}  // namespace
}  // namespace thimble::test::hinge_embedding_test
