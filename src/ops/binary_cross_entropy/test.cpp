#include <gtest/gtest.h>

#include "ops/families/loss/loss_cases.h"

namespace thimble::test::binary_cross_entropy_test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(LossOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(binary_cross_entropy) {
  return loss_cases(by, {{.low = 0.05, .high = 0.95}, {.low = 0.0}});
}

TEST(binary_cross_entropy, takes_weights) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4});
  const Value w = g.input("w", {1});
  EXPECT_EQ(to_string(binary_cross_entropy(x, t, w, {}).shape()), "[]");
  EXPECT_EQ(to_string(binary_cross_entropy(x, t, w, {Reduction::none}).shape()), "[N, 4]");
}

}  // namespace thimble::test::binary_cross_entropy_test
