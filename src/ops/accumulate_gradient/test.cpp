#include "harness/op_cases.h"

namespace thimble::test::accumulate_gradient_test {
namespace {

const ir::Attrs kHalf = ir::Attrs::of(AccumulateGradientOptions{.weight = 0.5});

}  // namespace

THIMBLE_OP_CASES(accumulate_gradient) {
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}, .state = true}, {.shape = {3, 7}}}},
                {.name = "empty", .inputs = {{.shape = {0}, .state = true}, {.shape = {0}}}},
                {.name = "weighted_over_many_tiles",
                 .inputs = {{.shape = {70001}, .state = true}, {.shape = {70001}}},
                 .attrs = kHalf}},
      .rejects = {{.name = "gradient_of_another_shape",
                   .inputs = {{.shape = {2}, .state = true}, {.shape = {3}}},
                   .error = "gradient of the sum's shape"}},
  };
}

THIMBLE_OP_CASES(mean_gradient) {
  const TensorSpec total{.shape = {}, .low = 2.0, .high = 5.0};
  return {
      .cases = {{.name = "matrix",
                 .inputs = {{.shape = {3, 7}, .state = true}, {.shape = {3, 7}}, total},
                 .expect = {{3, 7}, {3, 7}}},
                {.name = "scalar", .inputs = {{.shape = {}, .state = true}, {.shape = {}}, total}},
                {.name = "weighted_over_many_tiles",
                 .inputs = {{.shape = {70001}, .state = true}, {.shape = {70001}}, total},
                 .attrs = kHalf}},
      .rejects = {{.name = "totals",
                   .inputs = {{.shape = {2}, .state = true}, {.shape = {2}}, {.shape = {2}}},
                   .error = "one number as the total"}},
  };
}

}  // namespace thimble::test::accumulate_gradient_test
