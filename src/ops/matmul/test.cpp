#include "harness/op_cases.h"

namespace thimble::test::matmul_test {
namespace {

// Rounding of sums of up to some hundred products, relative to the largest result.
constexpr double kTolerance = 2e-5;

OpCase product(const char* name, const Shape& a, const Shape& b, const Shape& y,
               const MatmulAttrs& attrs = {}) {
  return {.name = name,
          .inputs = {{.shape = a}, {.shape = b}},
          .attrs = ir::Attrs::of(attrs),
          .expect = {y},
          .tolerance = kTolerance};
}

OpCase with_bias(OpCase made) {
  made.name += "_bias";
  made.inputs.push_back({.shape = {made.expect[0][-1]}});
  return made;
}

}  // namespace

THIMBLE_OP_CASES(matmul) {
  const MatmulAttrs a_t{.transpose_a = true};
  const MatmulAttrs b_t{.transpose_b = true};
  const MatmulAttrs both_t{.transpose_a = true, .transpose_b = true};
  // Large enough that all three pieces of the activation occur.
  OpCase relu6 = product("relu6", {9, 6}, {6, 17}, {9, 17}, {.activation = Activation::relu6});
  relu6.inputs[0] = {.shape = {9, 6}, .low = -6.0, .high = 6.0};
  return {
      .cases =
          {
              product("plain", {5, 7}, {7, 3}, {5, 3}),
              product("transpose_a", {7, 5}, {7, 3}, {5, 3}, a_t),
              product("transpose_b", {5, 7}, {3, 7}, {5, 3}, b_t),
              product("transpose_both", {7, 5}, {3, 7}, {5, 3}, both_t),
              with_bias(product("dense", {33, 70}, {21, 70}, {33, 21}, b_t)),
              with_bias(product("dense_of_one_image", {1, 300}, {10, 300}, {1, 10}, b_t)),
              with_bias(product("dense_of_a_sequence", {2, 3, 5}, {4, 5}, {2, 3, 4}, b_t)),
              product("batch", {3, 2, 5, 4}, {3, 2, 4, 3}, {3, 2, 5, 3}),
              product("batch_transpose_a", {3, 4, 5}, {3, 4, 6}, {3, 5, 6}, a_t),
              product("batch_transpose_b", {3, 5, 4}, {3, 6, 4}, {3, 5, 6}, b_t),
              product("batch_transpose_both", {3, 4, 5}, {3, 6, 4}, {3, 5, 6}, both_t),
              product("one_a_for_all", {5, 4}, {3, 4, 6}, {3, 5, 6}),
              product("one_transposed_a_for_all", {4, 5}, {3, 4, 6}, {3, 5, 6}, a_t),
              product("one_a_for_all_transposed_b", {5, 4}, {3, 6, 4}, {3, 5, 6}, b_t),
              product("one_b_for_all", {3, 5, 4}, {4, 6}, {3, 5, 6}),
              product("one_b_for_all_transposed_a", {3, 4, 5}, {4, 6}, {3, 5, 6}, a_t),
              product("one_transposed_b_for_all_transposed_a", {3, 4, 5}, {6, 4}, {3, 5, 6},
                      both_t),
              with_bias(product("in_parts", {101, 9}, {9, 21}, {101, 21})),
              product("in_parts_transpose_a", {260, 101}, {260, 37}, {101, 37}, a_t),
              product("in_parts_transpose_both", {9, 101}, {21, 9}, {101, 21}, both_t),
              product("one_number", {1, 1}, {1, 1}, {1, 1}),
              product("empty_batch", {0, 4}, {4, 3}, {0, 3}),
              product("empty_sum", {2, 0}, {0, 3}, {2, 3}),
              with_bias(
                  product("relu", {9, 6}, {6, 17}, {9, 17}, {.activation = Activation::relu})),
              with_bias(relu6),
          },
      .rejects =
          {
              {.name = "sizes_that_do_not_fit",
               .inputs = {{.shape = {2, 3}}, {.shape = {4, 5}}},
               .error = "as many columns of a as rows of b"},
              {.name = "a_transposed_by_mistake",
               .inputs = {{.shape = {2, 3}}, {.shape = {3, 5}}},
               .attrs = ir::Attrs::of(a_t),
               .error = "transpose_a=true"},
              {.name = "vectors",
               .inputs = {{.shape = {3}}, {.shape = {3, 5}}},
               .error = "at least 2 dimensions"},
              {.name = "batches_that_differ",
               .inputs = {{.shape = {2, 2, 3}}, {.shape = {3, 3, 5}}},
               .error = "equal dimensions before the last two"},
              {.name = "a_bias_of_another_size",
               .inputs = {{.shape = {2, 3}}, {.shape = {3, 5}}, {.shape = {2}}},
               .error = "one value a column"},
              {.name = "integers",
               .inputs = {{.shape = {2, 3}, .dtype = DType::i32}, {.shape = {3, 5}}},
               .error = "it has floating, i32, i64: cast first"},
          },
  };
}

}  // namespace thimble::test::matmul_test
