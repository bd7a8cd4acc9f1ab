#include "harness/op_cases.h"
#include "ops/softplus/attrs.h"

namespace thimble::test {

THIMBLE_OP_CASES(softplus) {
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}, .low = -1.9, .high = 1.9}}},
                {.name = "scalar", .inputs = {{.shape = {}, .low = -1.9, .high = 1.9}}},
                {.name = "empty", .inputs = {{.shape = {0, 4}, .low = -1.9, .high = 1.9}}},
                {.name = "long_vector", .inputs = {{.shape = {4099}, .low = -1.9, .high = 1.9}}},
                {.name = "attributes_1",
                 .inputs = {{.shape = {5, 9}, .low = -1.9, .high = 1.9}},
                 .attrs = ir::Attrs::of(SoftplusAttrs{.beta = 2.0, .threshold = 4.0})}},
      .rejects = {{.name = "integers",
                   .inputs = {{.shape = {2}, .dtype = DType::i32}},
                   .error = "of type f32"}},
  };
}

}  // namespace thimble::test
