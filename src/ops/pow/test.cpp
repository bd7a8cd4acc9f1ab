#include "harness/op_cases.h"
#include "ops/pow/attrs.h"

namespace thimble::test {

THIMBLE_OP_CASES(pow) {
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}, .low = 0.1, .high = 3}}},
                {.name = "scalar", .inputs = {{.shape = {}, .low = 0.1, .high = 3}}},
                {.name = "empty", .inputs = {{.shape = {0, 4}, .low = 0.1, .high = 3}}},
                {.name = "long_vector", .inputs = {{.shape = {4099}, .low = 0.1, .high = 3}}},
                {.name = "attributes_1",
                 .inputs = {{.shape = {5, 9}, .low = 0.1, .high = 3}},
                 .attrs = ir::Attrs::of(PowAttrs{.exponent = 0.5})}},
      .rejects = {{.name = "integers",
                   .inputs = {{.shape = {2}, .dtype = DType::i32}},
                   .error = "of type f32"}},
  };
}

}  // namespace thimble::test
