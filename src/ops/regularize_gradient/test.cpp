#include "harness/op_cases.h"

namespace thimble::test::regularize_gradient_test {

THIMBLE_OP_CASES(regularize_gradient) {
  const ir::Attrs both = ir::Attrs::of(RegularizeGradientOptions{.l1 = 0.5, .l2 = 0.25});
  return {
      .cases = {{.name = "neither", .inputs = {{.shape = {3, 7}}, {.shape = {3, 7}}}},
                {.name = "both", .inputs = {{.shape = {19}}, {.shape = {19}}}, .attrs = both},
                {.name = "at_zero",
                 .inputs = {{.shape = {5}}, {.shape = {5}, .low = 0.0, .high = 0.0}},
                 .attrs = both},
                {.name = "empty", .inputs = {{.shape = {0}}, {.shape = {0}}}, .attrs = both},
                {.name = "over_many_tiles",
                 .inputs = {{.shape = {70001}}, {.shape = {70001}}},
                 .attrs = both}},
      .rejects = {{.name = "another_shape",
                   .inputs = {{.shape = {2}}, {.shape = {3}}},
                   .error = "a gradient of the parameter's shape"},
                  {.name = "negative",
                   .inputs = {{.shape = {2}}, {.shape = {2}}},
                   .attrs = ir::Attrs::of(RegularizeGradientOptions{.l1 = -1.0}),
                   .error = "l1 and l2 must not be negative"}},
  };
}

}  // namespace thimble::test::regularize_gradient_test
