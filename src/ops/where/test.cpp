#include "harness/op_cases.h"

namespace thimble::test::where_test {

THIMBLE_OP_CASES(where) {
  const auto of = [](const char* name, const Shape& condition, const Shape& a, const Shape& b,
                     const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = condition, .dtype = DType::u8, .low = 0, .high = 1},
                             {.shape = a},
                             {.shape = b}},
                  .expect = {y}};
  };
  const TensorSpec flags{.shape = {3}, .dtype = DType::u8};
  return {
      .cases = {of("one_shape", {3, 37}, {3, 37}, {3, 37}, {3, 37}),
                of("row_of_conditions", {37}, {3, 37}, {3, 37}, {3, 37}),
                of("column_of_conditions", {3, 1}, {37}, {3, 37}, {3, 37}),
                of("scalars", {21}, {}, {}, {21}),
                of("all_differ", {3, 1}, {2, 1, 4}, {4}, {2, 3, 4}),
                of("one_element", {}, {}, {}, {}), of("long", {40001}, {40001}, {1}, {40001}),
                of("empty", {0, 3}, {3}, {}, {0, 3})},
      .rejects =
          {{"shapes", {flags, {.shape = {4}}, {.shape = {3}}}, {}, "shapes that broadcast"},
           {"condition_of_f32", {{.shape = {3}}, {.shape = {3}}, {.shape = {3}}}, {}, "cast first"},
           {"two_types",
            {flags, {.shape = {3}, .dtype = DType::i32}, {.shape = {3}}},
            {},
            "cast first"}},
  };
}

}  // namespace thimble::test::where_test
