#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "ops/binary_cross_entropy/attrs.h"

namespace thimble::test {
namespace {

OpCase of(const char* name, const Shape& shape, Reduction reduction) {
  return {.name = name,
          .inputs = {{.shape = shape, .low = 0.05, .high = 0.95}, {.shape = shape, .low = 0.0}},
          .attrs = ir::Attrs::of(LossOptions{reduction}),
          .expect = {reduction == Reduction::none ? shape : Shape{}}};
}

}  // namespace

THIMBLE_OP_CASES(binary_cross_entropy) {
  return {.cases = {of("mean", {3, 7}, Reduction::mean), of("sum", {3, 7}, Reduction::sum),
                    of("batch_mean", {3, 4, 5}, Reduction::batch_mean),
                    of("terms", {3, 7}, Reduction::none), of("scalar", {}, Reduction::mean),
                    of("sum_of_nothing", {0, 4}, Reduction::sum),
                    of("many", {3, 9001}, Reduction::mean),
                    of("many_terms", {3, 9001}, Reduction::none)},
          .rejects = {{"shapes",
                       {{.shape = {3}}, {.shape = {4}}},
                       ir::Attrs::of(LossOptions{}),
                       "of one shape"}}};
}

TEST(binary_cross_entropy, takes_weights) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4});
  const Value w = g.input("w", {1});
  EXPECT_EQ(to_string(binary_cross_entropy(x, t, w, {}).shape()), "[]");
  EXPECT_EQ(to_string(binary_cross_entropy(x, t, w, {Reduction::none}).shape()), "[N, 4]");
}

}  // namespace thimble::test
