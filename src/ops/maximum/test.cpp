#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test {

THIMBLE_OP_CASES(maximum) {
  const auto of = [](const char* name, const Shape& a, const Shape& b, const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = a, .distinct = true},
                             {.shape = b, .low = -0.97, .high = 0.97, .distinct = true}},
                  .expect = {y}};
  };
  // Some of so many pairs lie too close for finite differences.
  OpCase long_vectors = of("long_vectors", {40001}, {40001}, {40001});
  long_vectors.no_grad = {0, 1};
  return {
      .cases = {of("one_shape", {3, 7}, {3, 7}, {3, 7}), of("row", {5, 19}, {19}, {5, 19}),
                of("column", {5, 19}, {5, 1}, {5, 19}), of("both", {3, 1, 5}, {4, 1}, {3, 4, 5}),
                of("scalar", {}, {7}, {7}), of("scalars", {}, {}, {}), long_vectors,
                of("empty", {0, 3}, {3}, {0, 3})},
      .rejects =
          {{"shapes", {{.shape = {3, 4}}, {.shape = {3}}}, {}, "shapes that broadcast"},
           {"integers", {{.shape = {3}, .dtype = DType::i32}, {.shape = {3}}}, {}, "of type f32"}},
  };
}

TEST(maximum, is_nan_where_one_input_is) {
  const Tensor a = tensor({3}, {NAN, 1, NAN});
  const Tensor b = tensor({3}, {1, NAN, NAN});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    for (const float y : values_of<float>(run_op("maximum", {}, {a, b}, kernel)[0])) {
      EXPECT_TRUE(std::isnan(y));
    }
  }
}

}  // namespace thimble::test
