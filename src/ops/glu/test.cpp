#include "harness/op_cases.h"

namespace thimble::test::glu_test {
namespace {

OpCases gates() {
  const auto attrs = [](int64_t axis) { return ir::Attrs::of(GluOptions{axis}); };
  const auto of = [&](const char* name, const Shape& x, int64_t axis, const Shape& y,
                      double range = 4.0) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .low = -range, .high = range}},
                  .attrs = attrs(axis),
                  .expect = {y}};
  };
  return {
      .cases = {of("last", {5, 38}, -1, {5, 19}), of("first", {6, 5}, 0, {3, 5}),
                of("middle", {3, 4, 5}, 1, {3, 2, 5}), of("pairs", {7, 2}, 1, {7, 1}),
                of("one_axis", {18}, 0, {9}), of("many_rows", {1500, 12}, 1, {1500, 6}),
                of("long_rows", {2, 20002}, 1, {2, 10001}),
                of("far_from_zero", {3, 64}, 1, {3, 32}, 40.0), of("no_rows", {0, 4}, 1, {0, 2}),
                of("empty_rows", {4, 0}, 1, {4, 0})},
      .rejects =
          {{"odd", {{.shape = {3, 5}}}, attrs(1), "of even size"},
           {"no_such_axis", {{.shape = {4}}}, attrs(1), "there is no axis 1"},
           {"scalar", {{.shape = {}}}, attrs(-1), "there is no axis -1"},
           {"integers", {{.shape = {4}, .dtype = DType::i32}}, attrs(0), "must be floating"}},
  };
}

}  // namespace

THIMBLE_OP_CASES(glu) { return gates(); }
THIMBLE_OP_CASES(swiglu) { return gates(); }
THIMBLE_OP_CASES(geglu) { return gates(); }

}  // namespace thimble::test::glu_test
