// Updates of whole numbers: int8 weights and int32 biases move by changes that are rounded at
// random, or to nearest with a residual.
#include <gtest/gtest.h>
#include <thimble/optimizers.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
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
  double unit = 0.0;  // the real number that 1 stands for; 0: none is given
};

// The inputs of a step from states of 0, without the first one. State codes are 0, too.
template <class Number>
std::vector<Tensor> inputs_of(const Optimizer& optimizer, const Setting& s, const Shape& shape) {
  const auto count = static_cast<size_t>(shape.elements());
  const DType dtype = sizeof(Number) == 1 ? DType::i8 : DType::i32;
  std::vector<Tensor> inputs{
      tensor(dtype, shape, std::vector<Number>(count, static_cast<Number>(s.number))),
      tensor(shape, std::vector<float>(count, static_cast<float>(s.grad))),
      tensor({}, {static_cast<float>(s.lr)}), tensor<int32_t>(DType::i32, {}, {s.step}),
      tensor({}, {static_cast<float>(s.unit)})};
  inputs.back().absent = s.unit == 0.0;
  const ir::OptimizerRule& rule = optimizer.value().op->optimizer;
  for (const ir::StateSpec& spec : rule.states(optimizer.value().settings, shape)) {
    const auto entries = static_cast<size_t>(spec.type.shape.elements());
    inputs.push_back(spec.type.dtype == DType::u8
                         ? tensor(DType::u8, spec.type.shape, std::vector<uint8_t>(entries, 0))
                         : tensor(spec.type.shape, std::vector<float>(entries, 0.0F)));
  }
  return inputs;
}

// The numbers after a step from states of 0.
template <class Number>
std::vector<Number> moved(const Optimizer& optimizer, const Setting& s) {
  std::vector<Tensor> inputs = inputs_of<Number>(optimizer, s, {kCount});
  inputs.insert(inputs.begin(),
                tensor<uint32_t>(DType::u32, {6}, {1, 2, s.words_of_step, 0, 0, 0}));
  const ir::IntegerRule& integers = optimizer.value().op->integers;
  const ir::Attrs attrs = integers.update_attrs(optimizer.value().settings, s.stream, {});
  return values_of<Number>(run_op(*integers.update, attrs, inputs, Kernel::fast)[0]);
}

template <class Number>
double mean_of(const std::vector<Number>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(kCount);
}

std::vector<Optimizer> optimizers() {
  return {SGD{},
          SGD{.momentum = 0.9},
          SGD{.momentum = 0.9, .nesterov = true},
          Adam{},
          AdamW{.weight_decay = 0.0},
          Adam{.state_bits = 8},
          AdamW{.weight_decay = 0.0, .state_bits = 8}};
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

// With units the rule is for real numbers: of SGD the change in integers is lr * grad / unit^2, of
// Adam lr / unit.
TEST(rounded_update, with_a_unit_moves_the_real_numbers) {
  Setting s{.grad = 0.5, .lr = 0.02, .unit = 0.25};
  EXPECT_NEAR(mean_of(moved<int8_t>(SGD{}, s)), 50.0 - 0.16, kMiss);
  EXPECT_NEAR(mean_of(moved<int8_t>(SGD{.weight_decay = 0.1}, s)), 50.0 - 0.26, kMiss);
  for (const int64_t bits : {32, 8}) {
    EXPECT_NEAR(mean_of(moved<int8_t>(Adam{.state_bits = bits}, s)), 50.0 - 0.08, kMiss);
    const AdamW decays{.weight_decay = 0.1, .state_bits = bits};
    EXPECT_NEAR(mean_of(moved<int8_t>(decays, s)), 50.0 - 0.18, kMiss);
  }
  s.lr = 0.0;
  EXPECT_EQ(moved<int8_t>(Adam{}, s), std::vector<int8_t>(kCount, 50));
}

// The oracle is the op for f32: of a parameter of zeros, with the gradient by real numbers.
TEST(rounded_update, with_states_of_8_bits_is_the_rule_of_f32) {
  const Shape shape{3, 400};
  const std::vector<float> units{0.5F, 0.25F, 0.03F};
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-2.0F, 2.0F);
  std::vector<float> grad(1200);
  std::vector<float> real_grad(1200);
  for (size_t i = 0; i < grad.size(); ++i) {
    grad[i] = uniform(random);
    real_grad[i] = grad[i] / units[i / 400];
  }
  std::vector<uint8_t> codes(1200);
  for (uint8_t& code : codes) code = static_cast<uint8_t>(random());
  const Tensor scales = tensor({5}, std::vector<float>{0.5F, 1.0F, 2.0F, 0.25F, 0.125F});
  const Tensor moment = tensor(DType::u8, shape, codes);
  const Tensor lr = tensor({}, std::vector<float>{0.1F});
  const Tensor step = tensor<int32_t>(DType::i32, {}, {4});
  const Optimizer optimizer = AdamW{.weight_decay = 0.0, .state_bits = 8, .min_8bit_size = 1};
  const ir::OpDef& op = *optimizer.value().op;
  const auto wanted = run_op(op, optimizer.value().settings,
                             {tensor(shape, std::vector<float>(1200, 0.0F)),
                              tensor(shape, real_grad), lr, step, moment, moment, scales, scales},
                             Kernel::reference);
  const std::vector<int8_t> numbers(1200, 20);
  const auto got = run_op(
      *op.integers.update, op.integers.update_attrs(optimizer.value().settings, 3, {}),
      {tensor<uint32_t>(DType::u32, {6}, {1, 2, 3, 0, 0, 0}), tensor(DType::i8, shape, numbers),
       tensor(shape, grad), lr, step, tensor({3, 1}, units), moment, moment, scales, scales},
      Kernel::fast);
  for (size_t state = 1; state < wanted.size(); ++state) EXPECT_EQ(got[state], wanted[state]);
  const auto change = values_of<float>(wanted[0]);
  const auto after = values_of<int8_t>(got[0]);
  double total = 0.0;
  double exact = 0.0;
  for (size_t i = 0; i < after.size(); ++i) {
    const double steps = static_cast<double>(change[i]) / static_cast<double>(units[i / 400]);
    ASSERT_LT(std::abs(after[i] - 20 - steps), 1.0) << i;
    total += after[i] - 20;
    exact += steps;
  }
  EXPECT_NEAR(total, exact, 6.0 * 0.5 * std::sqrt(1200.0));
}

// int32 biases move as int8 weights do, with codes of states, too.
TEST(rounded_update, moves_both_types_alike) {
  const Shape shape{1500};
  std::mt19937 random(12);
  std::uniform_real_distribution<float> uniform(-9.0F, 9.0F);
  std::vector<float> grad(1500);
  std::vector<int8_t> narrow(1500);
  std::vector<int32_t> wide(1500);
  std::vector<int16_t> residual(1500);
  std::vector<uint8_t> codes(1500);
  for (size_t i = 0; i < grad.size(); ++i) {
    grad[i] = uniform(random);
    wide[i] = static_cast<int32_t>(random() % 201) - 100;
    narrow[i] = static_cast<int8_t>(wide[i]);
    residual[i] = static_cast<int16_t>(random());
    codes[i] = static_cast<uint8_t>(random());
  }
  const SGD settings{.momentum = 0.9, .state_bits = 8, .min_8bit_size = 1};
  const Optimizer optimizer = settings;
  const ir::OpDef& rounded = *optimizer.value().op->integers.update;
  const auto run = [&](const ir::OpDef& op, const Tensor& first, const Tensor& param) {
    return run_op(
        op, optimizer.value().op->integers.update_attrs(optimizer.value().settings, 3, {}),
        {first, param, tensor(shape, grad), tensor({}, std::vector<float>{0.5F}),
         tensor<int32_t>(DType::i32, {}, {3}), tensor(shape, std::vector<float>(1500, 1.5F)),
         tensor(DType::u8, shape, codes), tensor({6}, std::vector<float>(6, 0.7F))},
        Kernel::fast);
  };
  const Tensor rng = tensor<uint32_t>(DType::u32, {6}, {1, 2, 3, 0, 0, 0});
  const Tensor kept = tensor(DType::i16, shape, residual);
  for (const bool keeps : {false, true}) {
    const ir::OpDef& op = keeps ? *rounded.integers.update : rounded;
    const auto a = run(op, keeps ? kept : rng, tensor(DType::i8, shape, narrow));
    const auto b = run(op, keeps ? kept : rng, tensor(DType::i32, shape, wide));
    const auto small = values_of<int8_t>(a[0]);
    const auto large = values_of<int32_t>(b[0]);
    for (size_t i = 0; i < small.size(); ++i) ASSERT_EQ(int32_t{small[i]}, large[i]) << i;
    for (size_t i = 1; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]) << i;
  }
}

// A number and its residual after some steps of one gradient, from 0.
struct Kept {
  double number = 0.0;
  double residual = 0.0;  // in steps of 1
};
Kept kept(const Optimizer& optimizer, Setting s, int steps, double first = 0.0) {
  const ir::IntegerRule& integers = optimizer.value().op->integers;
  const ir::Attrs attrs = integers.update_attrs(optimizer.value().settings, 0, {});
  s.number = first;
  std::vector<Tensor> inputs = inputs_of<int8_t>(optimizer, s, {1});
  inputs.insert(inputs.begin(), tensor<int16_t>(DType::i16, {1}, {0}));
  for (int step = 1; step <= steps; ++step) {
    inputs[4] = tensor<int32_t>(DType::i32, {}, {step});
    const auto results = run_op(*integers.update->integers.update, attrs, inputs, Kernel::fast);
    inputs[1].bytes = results[0];
    inputs[0].bytes = results[1];
    for (size_t i = 2; i < results.size(); ++i) inputs[4 + i].bytes = results[i];
  }
  return {static_cast<double>(values_of<int8_t>(inputs[1].bytes)[0]),
          values_of<int16_t>(inputs[0].bytes)[0] / 65536.0};
}

TEST(residual_update, of_a_rate_of_0_moves_nothing) {
  for (const Optimizer& optimizer : optimizers()) {
    const Kept after = kept(optimizer, {.grad = 3.7, .lr = 0.0}, 20, 50.0);
    EXPECT_EQ(after.number, 50.0) << optimizer.text();
    EXPECT_EQ(after.residual, 0.0) << optimizer.text();
  }
}

// Number and residual together are the sum of the changes, up to half a unit of the residual each.
TEST(residual_update, of_a_tiny_rate_adds_up_to_the_right_change) {
  for (const double sign : {1.0, -1.0}) {
    const Setting s{.grad = sign, .lr = 0.003};
    for (const Optimizer& optimizer : {Optimizer(SGD{}), Optimizer(Adam{})}) {
      const Kept after = kept(optimizer, s, 500);
      EXPECT_NEAR(after.number + after.residual, -1.5 * sign, 500 * 0x1p-17 + 1e-3)
          << optimizer.text();
      EXPECT_NEAR(after.number, -1.5 * sign, 0.51) << optimizer.text();
    }
    // No code says -1 exactly: a moment that is the least of its block shrinks a little.
    const Kept coded = kept(Adam{.state_bits = 8, .min_8bit_size = 1}, s, 500);
    EXPECT_NEAR(coded.number + coded.residual, -1.5 * sign, 0.1);
    const Kept few = kept(SGD{}, s, 100);
    EXPECT_EQ(few.number, 0.0);
    EXPECT_NEAR(few.residual, -0.3 * sign, 100 * 0x1p-17);
  }
  // A change of less than half a unit of the residual is lost.
  EXPECT_EQ(kept(SGD{}, {.grad = 1.0, .lr = 0x1p-18}, 50).residual, 0.0);
  EXPECT_NE(kept(SGD{}, {.grad = 1.0, .lr = 0x1p-16}, 50).residual, 0.0);
}

TEST(residual_update, stays_at_the_ends_of_the_type_and_ignores_nan) {
  EXPECT_EQ(kept(SGD{}, {.grad = 1e30, .lr = 1.0}, 2).number, -128.0);
  EXPECT_EQ(kept(SGD{}, {.grad = -80.0, .lr = 1.0}, 2).number, 127.0);
  const Kept nan = kept(SGD{}, {.grad = NAN, .lr = 1.0}, 1, 50.0);
  EXPECT_EQ(nan.number, 50.0);
  EXPECT_EQ(nan.residual, 0.0);
}

TEST(rounded_update, with_the_number_0_updates_nothing) {
  EXPECT_EQ(moved<int8_t>(SGD{}, {.grad = 5.0, .lr = 1.0, .step = 0}),
            std::vector<int8_t>(kCount, 50));
}

}  // namespace
}  // namespace thimble::test::rounded_update_test
