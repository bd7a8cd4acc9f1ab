#include "harness/op_cases.h"

namespace thimble::test {

THIMBLE_OP_CASES(neg) {
  return {.cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}}}},
                    {.name = "empty", .inputs = {{.shape = {0, 4}}}}},
          .rejects = {{.name = "integers",
                       .inputs = {{.shape = {2}, .dtype = DType::i32}},
                       .error = "of type f32"}}};
}

}  // namespace thimble::test
