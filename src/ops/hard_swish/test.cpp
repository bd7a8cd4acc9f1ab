#include "harness/op_cases.h"

namespace thimble::test {

THIMBLE_OP_CASES(hard_swish) {
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}, .low = -2.9, .high = 2.9}}},
                {.name = "scalar", .inputs = {{.shape = {}, .low = -2.9, .high = 2.9}}},
                {.name = "empty", .inputs = {{.shape = {0, 4}, .low = -2.9, .high = 2.9}}},
                {.name = "long_vector", .inputs = {{.shape = {4099}, .low = -2.9, .high = 2.9}}}},
      .rejects = {{.name = "integers",
                   .inputs = {{.shape = {2}, .dtype = DType::i32}},
                   .error = "of type f32"}},
  };
}

}  // namespace thimble::test
