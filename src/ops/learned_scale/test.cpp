#include <gtest/gtest.h>

#include "harness/op_cases.h"

namespace thimble::test::learned_scale_test {

THIMBLE_OP_CASES(learned_scale) {
  // The gradient is scaled: it is no derivative.
  const auto of = [](const char* name, int64_t count, double gradient_scale) {
    return OpCase{.name = name,
                  .inputs = {{.shape = {count}, .low = -0.5, .high = 2.0},
                             {.shape = {count}, .low = 0.01, .high = 0.5}},
                  .attrs = ir::Attrs::of(LearnedScaleAttrs{gradient_scale}),
                  .expect = {{count}},
                  .no_grad = {0, 1}};
  };
  return {
      .cases = {of("one", 1, 1.0), of("channels", 37, 0.125), of("none", 0, 1.0)},
      .rejects = {{"another_unit", {{.shape = {3}}, {.shape = {1}}}, {}, "of one type"},
                  {"matrix", {{.shape = {3, 2}}, {.shape = {3, 2}}}, {}, "[learned_scale]"}},
  };
}

}  // namespace thimble::test::learned_scale_test
