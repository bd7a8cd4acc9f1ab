#include "harness/op_cases.h"

namespace thimble::test::cumprod_test {

THIMBLE_OP_CASES(cumprod) {
  const auto of = [](const char* name, const Shape& x, int64_t axis) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .low = -1.5, .high = 1.5}},
                  .attrs = ir::Attrs::of(CumprodOptions{axis}),
                  .expect = {x}};
  };
  return {.cases = {of("last", {3, 7}, -1), of("first", {7, 5}, 0), of("middle", {3, 4, 5}, 1),
                    of("one", {3, 1}, 1), of("no_rows", {0, 3}, 1), of("empty", {3, 0}, 1)},
          .rejects = {{"no_such_axis",
                       {{.shape = {3}}},
                       ir::Attrs::of(CumprodOptions{1}),
                       "there is no axis 1"}}};
}

}  // namespace thimble::test::cumprod_test
