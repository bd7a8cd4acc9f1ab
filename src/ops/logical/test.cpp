#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/nary/nary_cases.h"

namespace thimble::test::logical_test {
namespace {

// Whole numbers, half of which are 0.
TensorSpec spec(const Shape& shape, DType dtype) {
  const bool is_real = dtype == DType::f32;
  return {.shape = shape, .dtype = dtype, .low = is_real ? -1.0 : 0.0, .high = 1.0};
}

OpCases of_two() {
  const auto of = [](const char* name, const Shape& a, const Shape& b, const Shape& y,
                     DType type_a = DType::u8, DType type_b = DType::u8) {
    return OpCase{.name = name, .inputs = {spec(a, type_a), spec(b, type_b)}, .expect = {y}};
  };
  const DType u8 = DType::u8;
  std::vector<OpCase> cases = two_tensor_cases([&](const char* name, const Shape& a, const Shape& b,
                                                   const Shape& y) { return of(name, a, b, y); });
  cases.push_back(of("row_of_integers", {5, 19}, {19}, {5, 19}, u8, DType::i32));
  cases.push_back(of("integers_and_mask", {3, 1, 5}, {4, 1}, {3, 4, 5}, DType::i32, u8));
  cases.push_back(of("numbers", {5, 19}, {5, 1}, {5, 19}, DType::f32, DType::f32));
  return {
      .cases = std::move(cases),
      .rejects = {{"shapes", {spec({3, 4}, u8), spec({3}, u8)}, {}, "shapes that broadcast"}},
  };
}

}  // namespace

THIMBLE_OP_CASES(logical_and) { return of_two(); }
THIMBLE_OP_CASES(logical_or) { return of_two(); }
THIMBLE_OP_CASES(logical_xor) { return of_two(); }
THIMBLE_OP_CASES(logical_not) {
  return {.cases = {{.name = "mask", .inputs = {spec({5, 19}, DType::u8)}, .expect = {{5, 19}}},
                    {.name = "integers", .inputs = {spec({7}, DType::i32)}, .expect = {{7}}},
                    {.name = "numbers", .inputs = {spec({40001}, DType::f32)}, .expect = {{40001}}},
                    {.name = "scalar", .inputs = {spec({}, DType::u8)}, .expect = {{}}},
                    {.name = "empty", .inputs = {spec({0}, DType::u8)}, .expect = {{0}}}}};
}

TEST(logical_not, takes_nan_and_every_number_but_zero_for_true) {
  const Tensor x = tensor({5}, {NAN, 0, -0.0F, 1e-40F, -3});
  EXPECT_EQ(values_of<uint8_t>(run_op("logical_not", {}, {x}, Kernel::fast)[0]),
            (std::vector<uint8_t>{0, 1, 1, 0, 0}));
}

}  // namespace thimble::test::logical_test
