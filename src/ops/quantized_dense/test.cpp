#include <gtest/gtest.h>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::quantized_dense_test {
namespace {

const Quantization kInput{.scales = {0.05F}, .zero_points = {19}};

ir::Attrs scaled(Requantization how, Activation activation = Activation::none) {
  return ir::Attrs::of(QuantizedDenseAttrs{activation, 0.7, -4, how});
}

Quantization per_unit(int64_t units) {
  Quantization q{.axis = 0};
  for (int64_t u = 0; u < units; ++u) {
    q.scales.push_back(0.003F + 0.0007F * static_cast<float>(u % 23));
  }
  return q;
}

OpCase layer(const char* name, const Shape& x, int64_t units, Requantization how = {},
             bool bias = true) {
  std::vector<int64_t> dims = x.dims();
  dims.back() = units;
  OpCase made{.name = name,
              .inputs = {int8_spec(x, kInput), int8_spec({units, x[-1]}, per_unit(units))},
              .attrs = scaled(how),
              .expect = {Shape(dims)}};
  if (bias) made.inputs.push_back(bias_spec(units));
  return made;
}

RejectCase refused(const char* name, std::vector<TensorSpec> inputs, const char* error) {
  return {name, std::move(inputs), scaled({}), error};
}

}  // namespace

THIMBLE_OP_CASES(quantized_dense) {
  const auto fixed = Requantization::fixed_point;
  const TensorSpec x = int8_spec({2, 5}, kInput);
  OpCase one_scale = layer("one_scale", {3, 7}, 5);
  one_scale.inputs[1] = weight_spec({5, 7});
  return {
      .cases = {layer("rows", {3, 7}, 5), layer("many", {7, 133}, 71),
                layer("many_in_fixed_point", {7, 133}, 71, fixed),
                layer("one_feature", {3, 1}, 1, {}, false), layer("three_axes", {3, 2, 9}, 4),
                layer("sixteen_of_each", {16, 64}, 16, fixed, false),
                layer("empty_batch", {0, 7}, 5), one_scale},
      .rejects =
          {
              refused("numbers", {{.shape = {2, 5}}, weight_spec({3, 5})}, "quantize it first"),
              refused("other_features", {x, weight_spec({3, 4})}, "expected a weight [units, 5]"),
              refused("weights_of_images", {x, weight_spec({3, 5, 1})}, "2 dimensions"),
              refused("weights_with_scales_along_features",
                      {x, int8_spec({1, 5}, {.scales = {1, 1, 1, 1, 1}, .axis = 1})},
                      "index of axis 0"),
              refused("a_bias_of_another_size", {x, weight_spec({3, 5}), bias_spec(5)},
                      "bias to be [3]"),
          },
  };
}

THIMBLE_OP_CASES(quantized_dense_masked) {
  OpCases all;
  for (OpCase test :
       {layer("rows", {3, 7}, 5), layer("many", {7, 133}, 71), layer("empty_batch", {0, 7}, 5)}) {
    test.expect.push_back(test.expect[0]);
    all.cases.push_back(std::move(test));
  }
  return all;
}

// y is that of quantized_dense, and bits are those of quantized_dense_inside.
TEST(quantized_dense_masked, computes_result_and_mask) {
  std::mt19937 random(4);
  const Shape x{9, 150};
  for (const double scale : {0.7, 0.07, 0.002}) {
    for (const Requantization how : kRequantizations) {
      for (const Activation activation : {Activation::none, Activation::relu, Activation::relu6}) {
        const std::vector<Tensor> inputs{
            quantized_tensor(DType::i8, x, random_int8(x.elements(), random), kInput),
            quantized_tensor(DType::i8, {37, 150}, random_int8(37 * 150, random), per_unit(37)),
            tensor(DType::i32, {37}, std::vector<int32_t>(37, -500))};
        const ir::Attrs attrs = ir::Attrs::of(QuantizedDenseAttrs{activation, scale, -4, how});
        for (const Kernel kernel : {Kernel::reference, Kernel::fast}) {
          const auto both = run_op("quantized_dense_masked", attrs, inputs, kernel);
          EXPECT_EQ(both[0], run_op("quantized_dense", attrs, inputs, Kernel::reference)[0]);
          EXPECT_EQ(both[1], run_op("quantized_dense_inside", attrs, inputs, kernel)[0]);
        }
      }
    }
  }
}

TEST(quantized_dense, equals_the_definition) {
  std::mt19937 random(3);
  constexpr int64_t kRows = 9;
  constexpr int64_t kUnits = 37;
  constexpr int64_t kFeatures = 150;
  const std::vector<int8_t> x = random_int8(kRows * kFeatures, random);
  const std::vector<int8_t> w = random_int8(kUnits * kFeatures, random);
  std::vector<int32_t> bias;
  for (int64_t u = 0; u < kUnits; ++u) {
    bias.push_back(u == 3 ? INT32_MIN : static_cast<int32_t>(random() % 20001) - 10000);
  }
  const Quantization scales = per_unit(kUnits);
  for (const Requantization how : kRequantizations) {
    for (const Activation activation : {Activation::none, Activation::relu}) {
      const std::vector<Tensor> inputs{quantized_tensor(DType::i8, {kRows, kFeatures}, x, kInput),
                                       quantized_tensor(DType::i8, {kUnits, kFeatures}, w, scales),
                                       tensor<int32_t>(DType::i32, {kUnits}, bias)};
      const ir::Attrs attrs = scaled(how, activation);
      const auto y = run_op("quantized_dense", attrs, inputs, Kernel::fast)[0];
      EXPECT_EQ(y, run_op("quantized_dense", attrs, inputs, Kernel::reference)[0]);
      const auto numbers = values_of<int8_t>(y);
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t u = 0; u < kUnits; ++u) {
          int64_t sum = bias[static_cast<size_t>(u)];
          for (int64_t c = 0; c < kFeatures; ++c) {
            sum += int64_t{x[static_cast<size_t>(i * kFeatures + c)] - 19} *
                   w[static_cast<size_t>(u * kFeatures + c)];
          }
          const float scale = scales.scales[static_cast<size_t>(u)];
          const double product =
              how == Requantization::fixed_point
                  ? static_cast<double>(kInput.scales[0] * scale)
                  : static_cast<double>(kInput.scales[0]) * static_cast<double>(scale);
          const double factor = product / static_cast<double>(0.7F);
          ASSERT_EQ(numbers[static_cast<size_t>(i * kUnits + u)],
                    oracle_requantize(sum, factor, -4, how,
                                      activation == Activation::relu ? -4.0 : -128.0))
              << i << " " << u;
        }
      }
    }
  }
}

}  // namespace thimble::test::quantized_dense_test
