#include "harness/op_cases.h"

namespace thimble::test::clip_gradient_test {

THIMBLE_OP_CASES(sum_squares) {
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}}}, .expect = {Shape{}}},
                {.name = "scalar", .inputs = {{.shape = {}}}},
                {.name = "empty", .inputs = {{.shape = {0}}}},
                {.name = "chained", .inputs = {{.shape = {5}}, {.shape = {}, .low = 1, .high = 9}}},
                {.name = "many_tiles", .inputs = {{.shape = {70001}}, {.shape = {}}}}},
      .rejects = {{.name = "previous_that_is_no_number",
                   .inputs = {{.shape = {5}}, {.shape = {1}}},
                   .error = "one number as the previous sum"}},
  };
}

THIMBLE_OP_CASES(clip_by_norm) {
  const TensorSpec squares{.shape = {}, .low = 4.0, .high = 9.0};
  return {
      .cases = {{.name = "long", .inputs = {{.shape = {3, 7}}, squares}, .expect = {{3, 7}}},
                {.name = "short",
                 .inputs = {{.shape = {33}}, squares},
                 .attrs = ir::Attrs::of(ClipByNormOptions{.max_norm = 10.0})},
                {.name = "many_tiles", .inputs = {{.shape = {70001}}, squares}}},
      .rejects = {{.name = "norm_of_zero",
                   .inputs = {{.shape = {2}}, squares},
                   .attrs = ir::Attrs::of(ClipByNormOptions{.max_norm = 0.0}),
                   .error = "max_norm must be above 0"}},
  };
}

THIMBLE_OP_CASES(clip_by_value) {
  const ir::Attrs half = ir::Attrs::of(ClipByValueOptions{.limit = 0.5});
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}}}, .attrs = half},
                {.name = "empty", .inputs = {{.shape = {0}}}, .attrs = half},
                {.name = "many_tiles", .inputs = {{.shape = {70001}}}, .attrs = half}},
      .rejects = {{.name = "limit_of_zero",
                   .inputs = {{.shape = {2}}},
                   .attrs = ir::Attrs::of(ClipByValueOptions{.limit = 0.0}),
                   .error = "limit must be above 0"}},
  };
}

}  // namespace thimble::test::clip_gradient_test
