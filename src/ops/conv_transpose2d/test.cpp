#include <gtest/gtest.h>

#include <random>

#include "ir/reference.h"
#include "ops/families/conv/conv_cases.h"

namespace thimble::test::conv_transpose2d_test {
namespace {

OpCase transposed(const char* name, const Shape& x, const Shape& weight, const Shape& y,
                  const ConvTranspose2dAttrs& attrs = {}, bool bias = false) {
  return conv_case(name, x, weight, y, attrs, bias);
}

RejectCase refused(const char* name, const Shape& x, const Shape& weight, const char* error,
                   const ConvTranspose2dAttrs& attrs = {}) {
  return conv_reject(name, x, weight, error, attrs);
}

}  // namespace

THIMBLE_OP_CASES(conv_transpose2d) {
  OpCases own =
      {
          .cases =
              {
                  transposed("one_by_one", {3, 5, 4, 6}, {6, 1, 1, 7}, {3, 5, 4, 7}, {}, kBias),
                  transposed("one_pixel", {1, 1, 1, 2}, {2, 3, 4, 3}, {1, 3, 4, 3}, {}, kBias),
                  transposed("stride_2_doubles", {3, 7, 5, 8}, {8, 4, 4, 4}, {3, 14, 10, 4},
                             {.stride = 2, .padding = 1}, kBias),
                  transposed("one_result_channel", {2, 7, 7, 4}, {4, 4, 4, 1}, {2, 14, 14, 1},
                             {.stride = 2, .padding = 1}),
                  transposed("output_padding", {1, 4, 5, 3}, {3, 3, 3, 2}, {1, 8, 14, 2},
                             {.stride = {2, 3}, .padding = 1, .output_padding = {1, 1}}, kBias),
                  transposed("stride_larger_than_kernel", {3, 3, 4, 2}, {2, 2, 2, 3},
                             {3, 10, 14, 3}, {.stride = 4}),
                  transposed("stride_larger_than_kernel_output_padding", {1, 3, 3, 2}, {2, 2, 1, 3},
                             {1, 13, 12, 3}, {.stride = 4, .output_padding = 3}, kBias),
                  transposed("output_padding_of_what_padding_cuts", {2, 4, 4, 2}, {2, 4, 5, 4},
                             {2, 22, 22, 4},
                             {.stride = {3, 2},
                              .padding = {1, 2},
                              .output_padding = {2, 3},
                              .dilation = 4},
                             kBias),
                  transposed("padding_of_each_side", {1, 5, 6, 3}, {3, 3, 3, 4}, {1, 8, 11, 4},
                             {.stride = 2, .padding = {2, 1, 0, 2}}),
                  transposed("same", {1, 5, 6, 3}, {3, 3, 3, 4}, {1, 10, 12, 4},
                             {.stride = 2, .padding = Padding::same()}),
                  transposed("same_stride_larger_than_kernel", {1, 3, 2, 3}, {3, 2, 2, 4},
                             {1, 9, 6, 4}, {.stride = 3, .padding = Padding::same()}),
                  transposed("dilation", {3, 4, 5, 2}, {2, 3, 2, 3}, {3, 6, 8, 3},
                             {.padding = 1, .dilation = {2, 5}}, kBias),
                  transposed("groups", {3, 6, 5, 6}, {6, 3, 3, 3},
                             {3, 11, 9, 9}, {.stride = 2, .padding = 1, .groups = 3}, kBias),
                  transposed("depthwise", {3, 4, 4, 5}, {5, 3, 3, 1}, {3, 7, 7, 5},
                             {.stride = 2, .padding = 1, .groups = 5}, kBias),
                  transposed("groups_of_an_image_smaller_than_the_stride", {4, 1, 6, 6},
                             {6, 3, 3, 3}, {4, 1, 7, 6},
                             {.stride = {2, 1}, .padding = {1, 1, 1, 0}, .groups = 2}),
                  transposed("empty_batch", {0, 5, 5, 2}, {2, 3, 3, 3}, {0, 7, 7, 3}, {}, kBias),
                  transposed(
                      "relu", {3, 6, 6, 3}, {3, 3, 3, 17}, {3, 6, 6, 17},
                      {.padding = 1, .activation = Activation::relu}, kBias),
                  of_large_images(transposed("relu6", {3, 6, 6, 3}, {3, 3, 3, 17}, {3, 6, 6, 17},
                                             {.padding = 1, .activation = Activation::relu6},
                                             kBias)),
              },
          .rejects =
              {
                  refused("output_padding_larger_than_stride", {1, 4, 4, 2}, {2, 3, 3, 2},
                          "output_padding of at least 0 and",
                          {.stride = 2, .output_padding = {0, 2}}),
                  refused("negative_output_padding", {1, 4, 4, 2}, {2, 3, 3, 2},
                          "output_padding of at least 0", {.stride = 2, .output_padding = {-1, 0}}),
                  refused("output_padding_with_same", {1, 4, 4, 2}, {2, 3, 3, 2},
                          "leave output_padding out",
                          {.stride = 2, .padding = Padding::same(), .output_padding = 1}),
                  refused("a_weight_for_other_channels", {1, 4, 4, 2}, {3, 3, 3, 2},
                          "expected a weight [input, kh, kw, output / groups] = [2, kh, kw, 2]"),
                  refused("groups_that_do_not_divide", {1, 4, 4, 3}, {3, 3, 3, 1},
                          "groups to divide the 3 input and the 2 output channels", {.groups = 2}),
                  refused("padding_that_leaves_nothing", {1, 1, 1, 2}, {2, 3, 3, 2},
                          "nothing is left", {.padding = 2}),
                  refused("groups_beyond_any_channels", {1, 4, 4, 2}, {2, 3, 3, 4},
                          "groups to divide the 2 input", {.groups = int64_t{1} << 62}),
                  refused("a_result_no_int_can_hold", {1, 1 << 12, 4, 2}, {2, 3, 3, 2},
                          "too large together", {.stride = 1 << 20}),
              },
      };
  return with_conv_rejects<ConvTranspose2dAttrs>(std::move(own), {2, 3, 3, 2}, {2, 3, 3, 4});
}

namespace {

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// <conv2d(y, w), x> = <y, conv_transpose2d(x, w)> to rounding, in double precision.
void expect_adjoint(const OpCase& test) {
  // Each side is a sum of thousands of products in double.
  constexpr double kRounding = 1e-12;
  const auto& attrs = test.attrs.as<ConvTranspose2dAttrs>();
  // Beyond what a convolution of the same padding can invert.
  if (attrs.output_padding.w >= attrs.stride.w) return;
  Graph g;
  ir::Graph& graph = g.ir();
  const auto source = [&graph](const char* name, const Shape& shape) {
    return graph.source(name, {DType::f32, shape}, ir::Role::input);
  };
  const Value x = source("x", test.inputs[0].shape);
  const Value w = source("w", test.inputs[1].shape);
  const Value y = source("y", test.expect[0]);
  const Value up = conv_transpose2d(x, w, Value(), attrs);
  const Value down = conv2d(y, w, Value(),
                            {.stride = attrs.stride,
                             .padding = attrs.padding,
                             .dilation = attrs.dilation,
                             .groups = attrs.groups});
  ASSERT_EQ(down.shape(), x.shape());

  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::map<int, std::vector<double>> numbers;
  std::map<int, ir::Bytes> contents;
  for (const Value& v : {x, w, y}) {
    std::vector<double>& of_v = numbers[v.id()];
    of_v.resize(static_cast<size_t>(v.shape().elements()));
    for (double& number : of_v) number = normal(random);
    contents[v.id()] = ir::to_bytes(of_v, ir::Precision::f64);
  }
  const auto values = ir::run_reference(graph, contents, ir::Precision::f64);
  const auto result = [&values](Value v) {
    return ir::to_doubles(values[static_cast<size_t>(v.id())], ir::Precision::f64);
  };
  const double below = inner_product(result(down), numbers[x.id()]);
  const double above = inner_product(numbers[y.id()], result(up));
  const double scale = std::sqrt(inner_product(result(down), result(down)) *
                                 inner_product(numbers[x.id()], numbers[x.id()]));
  EXPECT_NEAR(below, above, kRounding * scale) << test.name;
}

TEST(conv_transpose2d, is_the_adjoint_of_conv2d) {
  for (const OpCase& test : op_cases_conv_transpose2d().cases) {
    if (test.attrs.as<ConvTranspose2dAttrs>().activation == Activation::none) expect_adjoint(test);
  }
}

}  // namespace
}  // namespace thimble::test::conv_transpose2d_test
