#include "harness/op_cases.h"

namespace thimble::test::normalize_test {
namespace {

OpCase along(const char* name, const Shape& x, const Shape& norm, const NormalizeOptions& options,
             double gap = 0.0) {
  return {.name = name,
          .inputs = {{.shape = x, .gap = gap}},
          .attrs = ir::Attrs::of(options),
          .expect = {x, norm},
          .no_cotangent = {1}};
}

}  // namespace

THIMBLE_OP_CASES(normalize) {
  const auto attrs = [](int64_t axis, double p) {
    return ir::Attrs::of(NormalizeOptions{axis, p, 1e-12});
  };
  return {
      .cases = {along("rows", {5, 37}, {5}, {}), along("first", {7, 4}, {4}, {.axis = 0}),
                along("middle", {3, 5, 4}, {3, 4}, {.axis = 1}),
                along("magnitudes", {5, 37}, {5}, {.p = 1.0}, 0.01),
                along("cubes", {5, 6}, {5}, {.p = 3.0}),
                along("roots", {5, 6}, {5}, {.p = 0.5}, 0.1),
                along("short", {5, 6}, {5}, {.epsilon = 100.0}), along("one_axis", {9}, {}, {}),
                along("one_element", {4, 1}, {4}, {}, 0.01),
                along("many_rows", {1500, 19}, {1500}, {}), along("no_rows", {0, 4}, {0}, {}),
                along("vectors_of_nothing", {4, 0}, {4}, {})},
      .rejects =
          {{"no_such_axis", {{.shape = {3, 4}}}, attrs(2, 2.0), "there is no axis 2"},
           {"scalar", {{.shape = {}}}, attrs(-1, 2.0), "there is no axis -1"},
           {"small_p", {{.shape = {3, 4}}}, attrs(-1, 0.0), "p above 0"},
           {"integers", {{.shape = {3}, .dtype = DType::i32}}, attrs(-1, 2.0), "of type f32"}},
  };
}

}  // namespace thimble::test::normalize_test
