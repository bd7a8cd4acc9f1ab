#include "autodiff/autodiff.h"
#include "harness/op_data.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/families/softmax/softmax_cases.h"

namespace thimble::test::softmax_test {

THIMBLE_OP_CASES(softmax) {
  OpCases all = softmax_cases();
  const ir::Attrs last = ir::Attrs::of(SoftmaxOptions());
  const Quantization q{.scales = {0.08F}, .zero_points = {5}};
  all.cases.push_back({"int8", {int8_spec({5, 13}, q)}, last, {{5, 13}}});
  all.cases.push_back({"int8_over_the_first_axis",
                       {int8_spec({7, 3, 2}, q)},
                       ir::Attrs::of(SoftmaxOptions{0}),
                       {{7, 3, 2}}});
  all.rejects.push_back({"int8_without_a_scale", {plain_int8({2, 3})}, last, "quantize it first"});
  all.rejects.push_back({"int8_of_many_classes", {int8_spec({1, 4096}, q)}, last, "4095 classes"});
  all.rejects.push_back(
      {"int8_of_a_tiny_scale", {int8_spec({1, 4}, {.scales = {1e-9F}})}, last, "at least 2^-26"});
  return all;
}

// Within a step of the result's scale of the formula, and of the right type.
TEST(softmax, of_int8_is_near_the_formula) {
  std::mt19937 random(11);
  for (const float scale : {0.002F, 0.05F, 0.3F, 1.7F, 40.0F}) {
    for (const int64_t classes : {1, 2, 10, 300, 4095}) {
      const std::vector<int8_t> x = random_int8(3 * classes, random);
      const Tensor given = quantized_tensor(DType::i8, {3, classes}, x, {.scales = {scale}});
      const auto y = values_of<int8_t>(
          run_op("softmax", ir::Attrs::of(SoftmaxOptions()), {given}, Kernel::fast)[0]);
      for (size_t row = 0; row < 3; ++row) {
        const auto* const numbers = x.data() + row * static_cast<size_t>(classes);
        const int largest = *std::max_element(numbers, numbers + classes);
        const auto power = [&](int64_t c) {
          return std::exp(static_cast<double>(scale) * (numbers[c] - largest));
        };
        double sum = 0.0;
        for (int64_t c = 0; c < classes; ++c) sum += power(c);
        for (int64_t c = 0; c < classes; ++c) {
          const double part = power(c) / sum;
          const double wanted = std::min(256.0 * part - 128.0, 127.0);
          const size_t at = row * static_cast<size_t>(classes) + static_cast<size_t>(c);
          ASSERT_NEAR(y[at], wanted, 0.51) << scale << " " << classes << " " << c;
        }
      }
    }
  }
  Graph g;
  const Value x = g.input("x", {4}, DType::i8, {.scales = {0.5F}});
  EXPECT_EQ(*softmax(x).quantization(), (Quantization{{1.0F / 256.0F}, {-128}, {}}));
}

TEST(softmax, neither_overflows_nor_hides_nan) {
  expect_neither_overflow_nor_lost_nan("softmax", 1.0F, 0.0F);
}

// By the integers: 256 times probabilities, of scale times the integers of x.
TEST(softmax, of_int8_has_the_gradient_of_what_its_numbers_stand_for) {
  ir::Graph g;
  const auto q = std::make_shared<const Quantization>(Quantization{{0.05F}, {3}});
  const Value x = g.source("x", {DType::i8, {2, 5}, q}, ir::Role::input);
  const Value y = softmax(x);
  const Value dy = g.source("dy", {DType::f32, {2, 5}}, ir::Role::input);
  const autodiff::Cotangent seed{y, dy};
  const std::vector<int> wanted{x.id()};
  const int dx = autodiff::append_gradients(g, {&seed, 1}, wanted)[0].gradient;
  const std::vector<double> numbers{3, -20, 45, 60, 17, -128, 127, 90, 110, 0};
  const std::vector<double> slopes{1, -2, 0.5, 3, -1, 2, 1, -1, 0.25, 4};
  const auto values = ir::run_reference(
      g,
      {{x.id(), bytes_of(numbers, DType::i8)}, {dy.id(), ir::to_bytes(slopes, ir::Precision::f64)}},
      ir::Precision::f64);
  const auto got = ir::to_doubles(values[static_cast<size_t>(dx)], ir::Precision::f64);
  const auto codes = numbers_of(values[static_cast<size_t>(y.id())], g.type(y.id()));
  for (size_t row = 0; row < 2; ++row) {
    double mean = 0.0;
    for (size_t i = 5 * row; i < 5 * row + 5; ++i) mean += slopes[i] * (codes[i] + 128.0) / 256.0;
    for (size_t i = 5 * row; i < 5 * row + 5; ++i) {
      const double p = (codes[i] + 128.0) / 256.0;
      EXPECT_NEAR(got[i], 256.0 * static_cast<double>(0.05F) * p * (slopes[i] - mean), 1e-5);
    }
  }
}

}  // namespace thimble::test::softmax_test
