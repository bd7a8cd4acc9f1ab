#include "ir/shared.h"

#include <gtest/gtest.h>
#include <thimble/types.h>

#include <vector>

namespace thimble::ir::shared_test {
namespace {

TEST(shared, copies_have_one_value_until_one_is_assigned_to) {
  Shared<std::vector<int>> a = std::vector{1, 2, 3};
  const Shared<std::vector<int>> b = a;
  EXPECT_EQ(&*a, &*b);
  a = std::vector{4};
  EXPECT_EQ(*a, std::vector{4});
  EXPECT_EQ(*b, (std::vector{1, 2, 3}));
  EXPECT_FALSE(a == b);
  EXPECT_TRUE(b == Shared(std::vector{1, 2, 3}));
  EXPECT_TRUE(b == std::vector({1, 2, 3}));
  EXPECT_TRUE(Shared<std::vector<int>>()->empty());
}

TEST(shared, names_are_much_like_strings) {
  Name a = std::string("conv");
  const Name b = a;
  a += ".weight";
  EXPECT_EQ(a, "conv.weight");
  EXPECT_EQ(b, std::string("conv"));
  EXPECT_NE(a, b);
  EXPECT_EQ(b + ".weight", "conv.weight");
  EXPECT_EQ("grad(" + b + ")", "grad(conv)");
  EXPECT_EQ(fmt::format("{:>6}", b), "  conv");
  EXPECT_EQ(Name(), "");
}

TEST(shared, copies_of_a_shape_have_one_list_of_sizes) {
  const Shape a{2, 3};
  const std::vector<Shape> copies(2, a);
  EXPECT_EQ(&copies[0].dims(), &a.dims());
  EXPECT_EQ(&copies[1].dims(), &a.dims());
  EXPECT_EQ(a, (Shape{2, 3}));
  EXPECT_NE(a, (Shape{3, 2}));
  EXPECT_EQ(Shape(), Shape(std::initializer_list<int64_t>{}));
  EXPECT_EQ(Shape().elements(), 1);
}

}  // namespace
}  // namespace thimble::ir::shared_test
