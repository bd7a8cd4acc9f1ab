#include "harness/op_cases.h"

namespace thimble::test::frozen_dense_test {
namespace {

// Sums of some hundred products.
constexpr double kTolerance = 2e-5;

OpCase product(const char* name, const Shape& x, DType dtype, const Shape& weight, const Shape& y,
               int64_t groups, bool bias, bool transposed = true) {
  const bool whole = dtype == DType::i8 || dtype == DType::i4;
  const double most = dtype == DType::i8 ? 127.0 : dtype == DType::i4 ? 7.0 : 1.0;
  OpCase made{
      .name = name,
      .inputs = {{.shape = x}, {.shape = weight, .dtype = dtype, .low = -most, .high = most}},
      .attrs = ir::Attrs::of(FrozenDenseAttrs{.transpose_b = transposed}),
      .expect = {y},
      .tolerance = kTolerance,
      .no_grad = {1, 2}};
  made.inputs.push_back(groups > 0 ? TensorSpec{.shape = {weight[0], groups},
                                                .low = whole ? 0.01 : 0.5,
                                                .high = whole ? 0.02 : 1.5}
                                   : TensorSpec{.absent = true});
  made.inputs.push_back(bias ? TensorSpec{.shape = {y[-1]}} : TensorSpec{.absent = true});
  return made;
}

}  // namespace

THIMBLE_OP_CASES(frozen_dense) {
  const auto attrs = ir::Attrs::of(FrozenDenseAttrs{});
  const TensorSpec x{.shape = {2, 6}};
  const TensorSpec weight{.shape = {3, 6}, .dtype = DType::bf16};
  const TensorSpec none{.absent = true};
  return {
      .cases = {product("bf16", {5, 7}, DType::bf16, {3, 7}, {5, 3}, 0, false),
                product("f16", {5, 7}, DType::f16, {3, 7}, {5, 3}, 0, true),
                product("bf16_features_first", {5, 7}, DType::bf16, {7, 3}, {5, 3}, 0, true, false),
                product("bf16_of_a_sequence", {2, 3, 40}, DType::bf16, {70, 40}, {2, 3, 70}, 0,
                        true),
                product("bf16_deep", {3, 300}, DType::bf16, {130, 300}, {3, 130}, 0, false),
                product("f16_deep_features_first", {300, 290}, DType::f16, {290, 70}, {300, 70}, 0,
                        false, false),
                product("i8", {5, 6}, DType::i8, {9, 6}, {5, 9}, 1, true),
                product("i8_in_groups", {4, 96}, DType::i8, {20, 96}, {4, 20}, 3, false),
                product("i8_without_scales", {4, 8}, DType::i8, {5, 8}, {4, 5}, 0, false),
                product("i4_in_groups", {4, 320}, DType::i4, {20, 320}, {4, 20}, 10, true),
                product("i4_features_first", {4, 20}, DType::i4, {20, 96}, {4, 96}, 3, false,
                        false),
                product("i4_in_odd_groups", {4, 20}, DType::i4, {7, 20}, {4, 7}, 4, false),
                product("one_row", {1, 33}, DType::bf16, {17, 33}, {1, 17}, 0, false),
                product("nothing", {0, 4}, DType::bf16, {3, 4}, {0, 3}, 0, false),
                product("sums_of_nothing", {2, 0}, DType::bf16, {3, 0}, {2, 3}, 0, true)},
      .rejects = {{"features", {{.shape = {2, 5}}, weight, none, none}, attrs, "as many features"},
                  {"f32", {x, {.shape = {3, 6}}, none, none}, attrs, "weight must be"},
                  {"odd_i4",
                   {{.shape = {2, 5}}, {.shape = {3, 5}, .dtype = DType::i4}, none, none},
                   attrs,
                   "an even length"},
                  {"scales", {x, weight, {.shape = {3, 4}}, none}, attrs, "groups that divide"},
                  {"bias", {x, weight, none, {.shape = {6}}}, attrs, "one value a unit"}},
  };
}

}  // namespace thimble::test::frozen_dense_test
