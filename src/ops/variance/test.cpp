#include "harness/op_cases.h"
#include "ops/variance/attrs.h"

namespace thimble::test {
namespace {

OpCases cases() {
  const auto of = [](const char* name, const Shape& x, const VarianceOptions& options,
                     const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .low = -1.5, .high = 1.5, .gap = 0, .distinct = false}},
                  .attrs = ir::Attrs::of(options),
                  .expect = {y}};
  };
  return {
      .cases = {of("all", {3, 4, 5}, {}, {}), of("last", {3, 7}, {.axes = {-1}}, {3}),
                of("first_kept", {7, 5}, {.axes = {0}, .keepdims = true}, {1, 5}),
                of("images", {3, 4, 3, 5}, {.axes = {1, 2}}, {3, 5}),
                of("interleaved", {3, 2, 5, 2}, {.axes = {0, 2}}, {2, 2}),
                of("many_rows", {701, 6}, {.axes = {1}}, {701}),
                of("all_there_is", {3, 7}, {.axes = {1}, .correction = 0.0}, {3}),
                of("no_rows", {0, 3}, {.axes = {1}}, {0})},
      .rejects = {{"no_such_axis",
                   {{.shape = {3, 4}}},
                   ir::Attrs::of(VarianceOptions{.axes = {2}}),
                   "there is no axis 2"},
                  {"integers",
                   {{.shape = {3}, .dtype = DType::i32}},
                   ir::Attrs::of(VarianceOptions{}),
                   "of type f32"}},
  };
}

}  // namespace

THIMBLE_OP_CASES(variance) { return cases(); }
THIMBLE_OP_CASES(standard_deviation) { return cases(); }

}  // namespace thimble::test
