#include "harness/op_cases.h"

namespace thimble::test::cumsum_test {

THIMBLE_OP_CASES(cumsum) {
  const auto attrs = [](int64_t axis, bool reverse = false) {
    return ir::Attrs::of(CumsumOptions{axis, reverse});
  };
  const auto of = [&](const char* name, const Shape& x, const ir::Attrs& a) {
    return OpCase{.name = name, .inputs = {{.shape = x}}, .attrs = a, .expect = {x}};
  };
  return {
      .cases = {of("last", {3, 37}, attrs(-1)), of("first", {37, 5}, attrs(0)),
                of("middle", {3, 5, 130}, attrs(1)), of("reverse", {3, 37}, attrs(1, true)),
                of("one_step", {3, 1}, attrs(1)), of("long", {70001}, attrs(0)),
                of("many_lines", {3, 9, 5000}, attrs(1, true)), of("empty", {0, 3}, attrs(1)),
                of("no_steps", {3, 0}, attrs(1))},
      .rejects = {{"no_such_axis", {{.shape = {3}}}, attrs(1), "there is no axis 1"},
                  {"scalar", {{.shape = {}}}, attrs(-1), "there is no axis -1"},
                  {"doubles", {{.shape = {3}, .dtype = DType::f64}}, attrs(0), "cast first"}},
  };
}

}  // namespace thimble::test::cumsum_test
