// Updates of whole numbers: int8 weights and int32 biases move by changes that are rounded at
// random.
#include <gtest/gtest.h>
#include <thimble/optimizers.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "harness/op_run.h"
#include "ir/optimizer_value.h"

namespace thimble::test::rounded_update_test {
namespace {

constexpr int64_t kCount = 1 << 16;
// Means of so many numbers of a deviation below 1 / 2, six deviations.
constexpr double kMiss = 6.0 * 0.5 / 256.0;

struct Setting {
  double grad;
  double lr;
  double number = 50.0;
  int32_t step = 1;
  int64_t stream = 3;
  uint32_t words_of_step = 7;
};

// The numbers after a step from states of 0.
template <class Number>
std::vector<Number> moved(const Optimizer& optimizer, const Setting& s) {
  const ir::OptimizerRule& rule = optimizer.value().op->optimizer;
  const Shape shape{kCount};
  const DType dtype = sizeof(Number) == 1 ? DType::i8 : DType::i32;
  std::vector<Tensor> inputs{
      tensor<uint32_t>(DType::u32, {6}, {1, 2, s.words_of_step, 0, 0, 0}),
      tensor(dtype, shape, std::vector<Number>(kCount, static_cast<Number>(s.number))),
      tensor(shape, std::vector<float>(kCount, static_cast<float>(s.grad))),
      tensor({}, {static_cast<float>(s.lr)}), tensor<int32_t>(DType::i32, {}, {s.step})};
  for (const ir::StateSpec& spec : rule.states(optimizer.value().settings, shape)) {
    inputs.push_back(tensor(spec.type.shape, std::vector<float>(kCount, 0.0F)));
  }
  const ir::Attrs attrs =
      optimizer.value().op->integers.update_attrs(optimizer.value().settings, s.stream);
  return values_of<Number>(
      run_op(*optimizer.value().op->integers.update, attrs, inputs, Kernel::fast)[0]);
}

template <class Number>
double mean_of(const std::vector<Number>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(kCount);
}

std::vector<Optimizer> optimizers() {
  return {SGD{}, SGD{.momentum = 0.9}, SGD{.momentum = 0.9, .nesterov = true}, Adam{},
          AdamW{.weight_decay = 0.0}};
}

TEST(rounded_update, of_a_rate_of_0_moves_nothing) {
  for (const Optimizer& optimizer : optimizers()) {
    const Setting s{.grad = 3.7, .lr = 0.0};
    EXPECT_EQ(moved<int8_t>(optimizer, s), std::vector<int8_t>(kCount, 50)) << optimizer.text();
    EXPECT_EQ(moved<int32_t>(optimizer, s), std::vector<int32_t>(kCount, 50)) << optimizer.text();
  }
  // Biases at the end of int32 stay there.
  const Setting end{.grad = 1.0, .lr = 0.0, .number = -2147483648.0};
  EXPECT_EQ(moved<int32_t>(SGD{}, end), std::vector<int32_t>(kCount, INT32_MIN));
}

TEST(rounded_update, of_a_tiny_rate_moves_in_the_right_direction_on_average) {
  for (const Optimizer& optimizer : optimizers()) {
    for (const double sign : {1.0, -1.0}) {
      // All of these rules change numbers of a constant gradient of 1 by lr in their first step,
      // Nesterov's by 1.9 lr.
      const double lr = 0.02;
      const double size = optimizer.text().find("nesterov") == std::string::npos ? lr : 1.9 * lr;
      const auto y = moved<int8_t>(optimizer, {.grad = sign, .lr = lr});
      EXPECT_NEAR(mean_of(y), 50.0 - sign * size, kMiss) << optimizer.text();
      EXPECT_NE(mean_of(y), 50.0) << optimizer.text();
      for (const int8_t number : y) {
        ASSERT_TRUE(number == 50 || number == 50 - static_cast<int>(sign)) << int{number};
      }
    }
  }
  // A change of a millionth: no f32 near 50 holds it.
  int32_t total = 0;
  for (uint32_t step = 0; step < 64; ++step) {
    const auto y = moved<int8_t>(SGD{}, {.grad = 1.0, .lr = 1e-5, .words_of_step = step});
    for (const int8_t number : y) total += number - 50;
  }
  // 64 * 65536 * 1e-5 = 42 numbers, of a deviation of 6.5.
  EXPECT_NEAR(total, -42, 39);
  EXPECT_LT(total, 0);
}

TEST(rounded_update, of_a_large_change_is_off_by_less_than_1) {
  const auto y = moved<int8_t>(SGD{}, {.grad = 13.0, .lr = 0.25, .number = -7.0});  // less 3.25
  for (const int8_t number : y) ASSERT_TRUE(number == -10 || number == -11) << int{number};
  EXPECT_NEAR(mean_of(y), -10.25, kMiss);
  const auto exact = moved<int32_t>(SGD{}, {.grad = -4.0, .lr = 0.5, .number = -7.0});
  EXPECT_EQ(exact, std::vector<int32_t>(kCount, -5));
}

TEST(rounded_update, stays_at_the_ends_of_the_type) {
  EXPECT_EQ(moved<int8_t>(SGD{}, {.grad = 1e30, .lr = 1.0}), std::vector<int8_t>(kCount, -128));
  EXPECT_EQ(moved<int8_t>(SGD{}, {.grad = -80.0, .lr = 1.0}), std::vector<int8_t>(kCount, 127));
  EXPECT_EQ(moved<int32_t>(SGD{}, {.grad = 1e30, .lr = 1.0}),
            std::vector<int32_t>(kCount, INT32_MIN));
  const Setting high{.grad = -5.0, .lr = 1.0, .number = 2147483645.0};
  EXPECT_EQ(moved<int32_t>(SGD{}, high), std::vector<int32_t>(kCount, INT32_MAX));
  EXPECT_EQ(moved<int8_t>(SGD{}, {.grad = NAN, .lr = 1.0}), std::vector<int8_t>(kCount, 50));
}

TEST(rounded_update, draws_by_step_and_stream) {
  const Setting s{.grad = 1.0, .lr = 0.5};
  const auto y = moved<int8_t>(SGD{}, s);
  EXPECT_EQ(moved<int8_t>(SGD{}, s), y);
  Setting step = s;
  step.words_of_step = 8;
  EXPECT_NE(moved<int8_t>(SGD{}, step), y);
  Setting stream = s;
  stream.stream = (int64_t{1} << 30) + 4;
  EXPECT_NE(moved<int8_t>(SGD{}, stream), y);
}

TEST(rounded_update, shrinks_numbers_by_weight_decay) {
  // 50 (1 - lr * decay) = 49.5
  const Setting s{.grad = 0.0, .lr = 0.1};
  EXPECT_NEAR(mean_of(moved<int8_t>(SGD{.weight_decay = 0.1}, s)), 49.5, kMiss);
  EXPECT_NEAR(mean_of(moved<int8_t>(SGD{.weight_decay = 0.1, .maximize = true}, s)), 49.5, kMiss);
  EXPECT_NEAR(mean_of(moved<int8_t>(AdamW{.weight_decay = 0.1}, s)), 49.5, kMiss);
  // Adam normalizes the gradient, the decay with it: a step of lr.
  EXPECT_NEAR(mean_of(moved<int8_t>(Adam{.weight_decay = 0.1}, s)), 49.9, kMiss);
}

TEST(rounded_update, with_the_number_0_updates_nothing) {
  EXPECT_EQ(moved<int8_t>(SGD{}, {.grad = 5.0, .lr = 1.0, .step = 0}),
            std::vector<int8_t>(kCount, 50));
}

}  // namespace
}  // namespace thimble::test::rounded_update_test
