#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::multilabel_margin_test {
namespace {

TEST(multilabel_margin, is_one_number_or_the_terms) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4}, DType::i32);
  EXPECT_EQ(to_string(multilabel_margin(x, t).shape()), "[]");
  EXPECT_EQ(to_string(multilabel_margin(x, t, {.reduction = Reduction::none}).shape()), "[N]");
}

TEST(multilabel_margin, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT([&] { multilabel_margin(g.input("a", {3}), g.input("b", {2}, DType::i32)); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("shape")));
}

}  // namespace
}  // namespace thimble::test::multilabel_margin_test
