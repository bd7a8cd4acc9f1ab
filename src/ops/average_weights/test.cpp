#include "harness/op_cases.h"

namespace thimble::test::average_weights_test {
namespace {

std::vector<TensorSpec> inputs(const Shape& shape, double step) {
  return {{.shape = shape, .state = true},
          {.shape = shape},
          {.shape = {}, .dtype = DType::i32, .low = step, .high = step}};
}

}  // namespace

THIMBLE_OP_CASES(average_weights) {
  return {
      .cases = {{.name = "matrix", .inputs = inputs({3, 7}, 4), .expect = {{3, 7}}},
                {.name = "first_step", .inputs = inputs({19}, 1)},
                {.name = "skipped", .inputs = inputs({19}, 0)},
                {.name = "empty", .inputs = inputs({0}, 2)},
                {.name = "over_many_tiles",
                 .inputs = inputs({70001}, 2),
                 .attrs = ir::Attrs::of(AverageWeightsOptions{.decay = 0.5})}},
      .rejects = {{.name = "decay_of_one",
                   .inputs = inputs({2}, 2),
                   .attrs = ir::Attrs::of(AverageWeightsOptions{.decay = 1.0}),
                   .error = "decay must be at least 0 and below 1"},
                  {.name = "another_shape",
                   .inputs = {{.shape = {2}, .state = true},
                              {.shape = {3}},
                              {.shape = {}, .dtype = DType::i32}},
                   .error = "an average of the parameter's shape"}},
  };
}

}  // namespace thimble::test::average_weights_test
