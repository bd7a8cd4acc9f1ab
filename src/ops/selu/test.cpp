#include "harness/op_cases.h"

namespace thimble::test {

THIMBLE_OP_CASES(selu) {
  return {
      .cases = {{.name = "matrix",
                 .inputs = {{.shape = {3, 7}, .low = -3, .high = 3, .gap = 0.01}}},
                {.name = "scalar", .inputs = {{.shape = {}, .low = -3, .high = 3, .gap = 0.01}}},
                {.name = "empty", .inputs = {{.shape = {0, 4}, .low = -3, .high = 3, .gap = 0.01}}},
                {.name = "long_vector",
                 .inputs = {{.shape = {4099}, .low = -3, .high = 3, .gap = 0.01}}}},
      .rejects = {{.name = "integers",
                   .inputs = {{.shape = {2}, .dtype = DType::i32}},
                   .error = "of type f32"}},
  };
}

}  // namespace thimble::test
