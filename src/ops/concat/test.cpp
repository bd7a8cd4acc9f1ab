#include <gtest/gtest.h>

#include "harness/op_cases.h"

namespace thimble::test::concat_test {
namespace {

ir::Attrs along(int64_t axis) { return ir::Attrs::of(ConcatOptions{axis}); }

}  // namespace

THIMBLE_OP_CASES(concat) {
  const TensorSpec bytes{.shape = {2, 3}, .dtype = DType::u8};
  const TensorSpec eighths{
      .shape = {2, 3}, .dtype = DType::i8, .quantization = {.scales = {0.125F}}};
  return {
      .cases =
          {{"channels", {{.shape = {2, 3, 1}}, {.shape = {2, 3, 4}}}, along(-1), {{2, 3, 5}}},
           {"rows", {{.shape = {1, 3}}, {.shape = {2, 3}}, {.shape = {3, 3}}}, along(0), {{6, 3}}},
           {"middle", {{.shape = {3, 1, 2}}, {.shape = {3, 4, 2}}}, along(1), {{3, 5, 2}}},
           {"one_part", {{.shape = {3, 2}}}, along(1), {{3, 2}}},
           {"empty_part", {{.shape = {3, 0}}, {.shape = {3, 2}}}, along(1), {{3, 2}}},
           {"empty", {{.shape = {0, 1}}, {.shape = {0, 2}}}, along(1), {{0, 3}}},
           {"bytes", {bytes, bytes}, along(0), {{4, 3}}},
           {"quantized", {eighths, eighths}, along(1), {{2, 6}}}},
      .rejects =
          {{"other_axis", {{.shape = {2, 3}}, {.shape = {3, 3}}}, along(1), "the axis alone"},
           {"ranks", {{.shape = {2, 3}}, {.shape = {2}}}, along(0), "the axis alone"},
           {"types", {{.shape = {2, 3}}, bytes}, along(0), "of one type"},
           {"scales", {eighths, {.shape = {2, 3}, .dtype = DType::i8}}, along(0), "has a scale"},
           {"zero_points",
            {eighths,
             {.shape = {2, 3},
              .dtype = DType::i8,
              .quantization = {.scales = {0.125F}, .zero_points = {1}}}},
            along(0),
            "one scale and zero point"},
           {"no_such_axis", {{.shape = {2}}, {.shape = {2}}}, along(1), "there is no axis 1"},
           {"too_many", std::vector<TensorSpec>(33, {.shape = {1}}), along(0), "1 to 32 parts"}},
  };
}

TEST(concat, refuses_a_list_of_nothing) { EXPECT_THROW(concat({}), Error); }

}  // namespace thimble::test::concat_test
