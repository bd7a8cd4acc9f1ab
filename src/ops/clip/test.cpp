#include "harness/op_cases.h"
#include "ops/clip/attrs.h"

namespace thimble::test {

THIMBLE_OP_CASES(clip) {
  return {
      .cases = {{.name = "matrix",
                 .inputs = {{.shape = {3, 7}, .low = -3, .high = 3, .gap = 0.01}}},
                {.name = "scalar", .inputs = {{.shape = {}, .low = -3, .high = 3, .gap = 0.01}}},
                {.name = "empty", .inputs = {{.shape = {0, 4}, .low = -3, .high = 3, .gap = 0.01}}},
                {.name = "long_vector",
                 .inputs = {{.shape = {4099}, .low = -3, .high = 3, .gap = 0.01}}},
                {.name = "attributes_1",
                 .inputs = {{.shape = {5, 9}, .low = -3, .high = 3, .gap = 0.01}},
                 .attrs = ir::Attrs::of(ClipAttrs{.low = -1.5, .high = 2.0})}},
      .rejects = {{.name = "integers",
                   .inputs = {{.shape = {2}, .dtype = DType::i32}},
                   .error = "of type f32"}},
  };
}

}  // namespace thimble::test
