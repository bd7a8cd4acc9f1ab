// Training of quantized graphs: int8 weights and int32 biases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::quantized_training_test {
namespace {

using testing::HasSubstr;

// The recipe lenet5 after a short training, and its int8 form.
struct Models {
  Graph f32;
  Graph int8;
};

const data::Dataset& digits() {
  static const data::Dataset all = data::digits(1000, 1);
  return all;
}
const data::Dataset& test_digits() {
  static const data::Dataset all = data::digits(500, 2, data::Split::test);
  return all;
}

const Models& models() {
  static const Models made = [] {
    const Recipe& recipe = find_recipe("lenet5");
    Trainer trainer(recipe.build(),
                    {.optimizer = recipe.optimizer(), .batch = 32, .seed = 1, .threads = 2});
    trainer.fit(digits().take(600), {.epochs = 2});
    const TemporaryFolder folder;
    trainer.save_model(folder / "m.safetensors");
    Graph f32 = load_model(folder / "m.safetensors");
    Graph int8 = quantize_model(f32, digits(), {.samples = 128}).graph;
    return Models{std::move(f32), std::move(int8)};
  }();
  return made;
}

Trainer trainer_of(const Graph& graph, const Optimizer& optimizer, TrainerOptions options = {}) {
  options.optimizer = optimizer;
  options.batch = 32;
  options.seed = 3;
  if (options.threads == 0) options.threads = 2;
  return {graph, options};
}

TEST(quantized_training, of_lenet5_lowers_its_loss_and_raises_its_accuracy) {
  for (const Optimizer& optimizer :
       {Optimizer(SGD{.lr = 0.02}), Optimizer(SGD{.lr = 0.005, .momentum = 0.9})}) {
    Trainer trainer = trainer_of(models().int8, optimizer);
    const Evaluation before = trainer.evaluate(test_digits());
    const FitResult result = trainer.fit(digits(), {.epochs = 3});
    const Evaluation after = trainer.evaluate(test_digits());
    EXPECT_LT(result.epochs.back().train.loss, 0.8 * result.epochs.front().train.loss)
        << optimizer.text();
    EXPECT_LT(after.loss, 0.7 * before.loss) << optimizer.text();
    EXPECT_GT(after.metrics.at("accuracy"), before.metrics.at("accuracy") + 0.03)
        << optimizer.text();
    EXPECT_EQ(trainer.parameter("conv1.weight").dtype(), DType::i8);
    EXPECT_EQ(trainer.parameter("conv1.bias").dtype(), DType::i32);
  }
}

// Learning rates are those of f32 with quantization-aware scaling; without, they count integers.
TEST(quantized_training, lowers_the_loss_at_rates_of_f32) {
  struct Case {
    Optimizer optimizer;
    bool scaling;
    IntegerRounding rounding = IntegerRounding::stochastic;
  };
  const Case cases[] = {{Adam{}, true},
                        {AdamW{}, true},
                        {AdamW{.state_bits = 8}, true},
                        {AdamW{.state_bits = 8}, true, IntegerRounding::residual},
                        {SGD{.lr = 0.005, .momentum = 0.9, .state_bits = 8}, true},
                        {SGD{.lr = 0.005, .momentum = 0.9}, true, IntegerRounding::residual},
                        {Adam{.lr = 0.3}, false}};
  for (const Case& c : cases) {
    Trainer trainer =
        trainer_of(models().int8, c.optimizer,
                   {.quantization_aware_scaling = c.scaling, .integer_rounding = c.rounding});
    const double before = trainer.evaluate(test_digits()).loss;
    trainer.fit(digits(), {.epochs = 2});
    EXPECT_LT(trainer.evaluate(test_digits()).loss, 0.8 * before) << c.optimizer.text();
  }
}

TEST(quantized_training, at_a_rate_of_0_moves_nothing) {
  for (const Optimizer& optimizer : {Optimizer(SGD{.lr = 0.0}), Optimizer(Adam{.lr = 0.0}),
                                     Optimizer(Adam{.lr = 0.0, .state_bits = 8})}) {
    for (const IntegerRounding rounding :
         {IntegerRounding::stochastic, IntegerRounding::residual}) {
      Trainer trainer = trainer_of(models().int8, optimizer, {.integer_rounding = rounding});
      const std::string before = trainer.weights_sha256();
      trainer.fit(digits().take(96), {.epochs = 2});
      EXPECT_EQ(trainer.weights_sha256(), before) << optimizer.text();
    }
  }
}

// Before any residual has added up to a step: the first ones are spread over all fractions.
TEST(quantized_training, with_residuals_moves_numbers_as_far_as_the_first_gradients_say) {
  const data::Dataset batch = digits().take(32);
  TrainerOptions options{.quantization_aware_scaling = false,
                         .integer_rounding = IntegerRounding::residual};
  const Gradients gradients = trainer_of(models().int8, SGD{.lr = 0.0}, options).gradients(batch);
  const std::vector<float> gradient = gradients.values.at("conv2.weight").floats();
  double largest = 0.0;
  for (const float g : gradient) largest = std::max(largest, std::abs(static_cast<double>(g)));
  const double rate = 0.4 / largest;  // no change is half a step
  Trainer trainer = trainer_of(models().int8, SGD{.lr = rate}, options);
  const std::vector<int64_t> before = trainer.parameter("conv2.weight").integers();
  (void)trainer.step(batch);
  const std::vector<int64_t> after = trainer.parameter("conv2.weight").integers();
  double wanted = 0.0;
  double moved = 0.0;  // in the direction of the change
  for (size_t i = 0; i < gradient.size(); ++i) {
    const int64_t change = after[i] - before[i];
    EXPECT_LE(std::abs(change), 1);
    wanted += rate * std::abs(static_cast<double>(gradient[i]));
    moved += static_cast<double>(gradient[i] > 0.0F ? -change : change);
  }
  // Each number moves with the probability of its change: six deviations of their sum.
  EXPECT_NEAR(moved, wanted, 6.0 * std::sqrt(wanted));
  EXPECT_GT(moved, 0.0);
}

// A step by the scaled gradients of the integers is one of the real numbers: the gradient by an
// integer is the scale times that by the real number that it stands for.
TEST(quantized_training, has_gradients_that_point_where_those_of_f32_do) {
  Trainer f32 = trainer_of(models().f32, SGD{});
  Trainer int8 = trainer_of(models().int8, SGD{});
  const data::Dataset batch = digits().take(32);
  const Gradients wanted = f32.gradients(batch);
  const Gradients got = int8.gradients(batch);
  ASSERT_EQ(got.values.size(), 10U);
  for (const ir::ValueData& data : models().int8.ir().values) {
    if (data.role != ir::Role::parameter || data.type.quantization == nullptr) continue;
    const std::vector<float> scales = data.type.quantization->scales;
    const std::vector<float> a = wanted.values.at(*data.name).floats();
    const std::vector<float> b = got.values.at(*data.name).floats();
    ASSERT_EQ(a.size(), b.size());
    double ab = 0.0;
    double aa = 0.0;
    double bb = 0.0;
    for (size_t i = 0; i < a.size(); ++i) {
      const auto x = static_cast<double>(a[i]);
      const double y =
          static_cast<double>(b[i]) / static_cast<double>(scales[i / (a.size() / scales.size())]);
      ab += x * y;
      aa += x * x;
      bb += y * y;
    }
    EXPECT_GT(ab / std::sqrt(aa * bb), 0.9) << *data.name;
    EXPECT_NEAR(std::sqrt(bb / aa), 1.0, 0.2) << *data.name;
  }
}

TEST(quantized_training, has_the_same_bits_on_every_number_of_threads_and_after_a_resume) {
  const auto options = [](int threads) { return TrainerOptions{.threads = threads}; };
  const data::Dataset some = digits().take(200);
  const SGD sgd{.lr = 0.01, .momentum = 0.9};
  Trainer one = trainer_of(models().int8, sgd, options(1));
  Trainer two = trainer_of(models().int8, sgd, options(2));
  one.fit(some, {.epochs = 2});
  const TemporaryFolder folder;
  two.fit(some, {.epochs = 1});
  two.save(folder / "c.safetensors");
  Trainer resumed = trainer_of(models().int8, sgd, options(2));
  resumed.resume(folder / "c.safetensors");
  resumed.fit(some, {.epochs = 2, .initial_epoch = 1});
  EXPECT_EQ(resumed.weights_sha256(), one.weights_sha256());
  // A file of the model has the trained integers.
  resumed.save_model(folder / "m.safetensors");
  Trainer again = trainer_of(load_model(folder / "m.safetensors"), sgd);
  EXPECT_EQ(again.weights_sha256(), one.weights_sha256());
}

TEST(quantized_training, resumes_with_small_states_and_residuals) {
  const AdamW adamw{.state_bits = 8};
  const TrainerOptions options{.integer_rounding = IntegerRounding::residual};
  const data::Dataset some = digits().take(200);
  Trainer whole = trainer_of(models().int8, adamw, options);
  whole.fit(some, {.epochs = 2});
  Trainer first = trainer_of(models().int8, adamw, options);
  first.fit(some, {.epochs = 1});
  const TemporaryFolder folder;
  first.save(folder / "c.safetensors");
  Trainer resumed = trainer_of(models().int8, adamw, options);
  resumed.resume(folder / "c.safetensors");
  resumed.fit(some, {.epochs = 2, .initial_epoch = 1});
  EXPECT_EQ(resumed.weights_sha256(), whole.weights_sha256());
  const auto refusal = [&](const TrainerOptions& other) {
    Trainer trainer = trainer_of(models().int8, adamw, other);
    try {
      trainer.resume(folder / "c.safetensors");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal({}), HasSubstr("made with integer_rounding \"residual\""));
  EXPECT_THAT(
      refusal({.quantization_aware_scaling = false, .integer_rounding = IntegerRounding::residual}),
      HasSubstr("made with quantization_aware_scaling (on the command line --qas) \"on\""));
}

TEST(quantized_training, plans_the_bytes_of_states_and_residuals) {
  const auto plan_of = [](const Optimizer& optimizer, IntegerRounding rounding = {}) {
    return plan_training(
        models().int8,
        {.optimizer = optimizer, .batch = 8, .integer_rounding = rounding, .threads = 1});
  };
  int64_t numbers = 0;
  for (const ir::ValueData& data : models().int8.ir().values) {
    if (data.role == ir::Role::parameter) numbers += data.type.shape.elements();
  }
  const Plan whole = plan_of(AdamW{});
  EXPECT_EQ(whole.state_bytes, 8 * numbers);
  EXPECT_EQ(whole.saved_state_bytes, 0);
  // Two bytes a number, and 8 for each block of 256.
  const Plan coded = plan_of(AdamW{.state_bits = 8, .min_8bit_size = 1});
  EXPECT_LT(coded.state_bytes, 2.2 * static_cast<double>(numbers));
  EXPECT_GT(coded.state_bytes, 2 * numbers);
  EXPECT_EQ(coded.saved_state_bytes, whole.state_bytes - coded.state_bytes);
  EXPECT_LT(coded.planned_peak_bytes, whole.planned_peak_bytes);
  EXPECT_EQ(plan_of(SGD{}).state_bytes, 0);
  EXPECT_EQ(plan_of(SGD{}, IntegerRounding::residual).state_bytes, 2 * numbers);
}

TEST(quantized_training, holds_parameters_in_a_quarter_of_the_memory) {
  const auto plan_of = [](const Graph& graph, const char* frozen) {
    TrainerOptions options{.optimizer = SGD{.momentum = 0.9}, .batch = 8, .threads = 1};
    if (frozen != nullptr) options.groups = {{.pattern = frozen, .frozen = true}};
    return plan_training(graph, options);
  };
  const Plan f32 = plan_of(models().f32, nullptr);
  const Plan int8 = plan_of(models().int8, nullptr);
  EXPECT_LT(int8.parameter_bytes, 0.27 * static_cast<double>(f32.parameter_bytes));
  EXPECT_EQ(int8.state_bytes, f32.state_bytes);
  const Plan head = plan_of(models().int8, "conv*");
  EXPECT_LT(head.planned_peak_bytes, int8.planned_peak_bytes);
  EXPECT_LT(head.state_bytes, int8.state_bytes);
}

TEST(quantized_training, accumulates_gradients_in_f32) {
  Trainer parts = trainer_of(models().int8, SGD{.lr = 0.01}, {.accumulate = 2});
  const double before = parts.evaluate(test_digits()).loss;
  parts.fit(digits().take(320), {.epochs = 3});
  EXPECT_LT(parts.evaluate(test_digits()).loss, before);
}

TEST(quantized_training, refuses_what_whole_numbers_cannot_have) {
  const auto error = [](const Optimizer& optimizer, const TrainerOptions& options = {}) {
    try {
      trainer_of(models().int8, optimizer, options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(error(LAMB{}), testing::AllOf(HasSubstr("is of i8, and lamb trains f32"),
                                            HasSubstr("take one of adam, adamw, sgd")));
  EXPECT_THAT(error(SGD{}, {.ema_decay = 0.9}), HasSubstr("set ema_decay to 0"));
  EXPECT_THAT(error(SGD{}, {.groups = {{.pattern = "dense1.weight", .l2 = 0.1}}}),
              HasSubstr("l1 and l2 are for f32 parameters alone"));
}

TEST(quantized_training, is_of_parameters_that_are_not_frozen) {
  Graph g;
  const auto x = g.input("x", {2}, DType::i8, {.scales = {0.5F}});
  const auto w = g.parameter("w", {3, 2}, init::constant(4), DType::i8,
                             {.scales = {0.5F, 0.25F, 1.0F}, .axis = 0});
  const auto b = g.parameter("b", {3}, init::zeros(), DType::i32);
  g.parameter("other", {3}, init::zeros(), DType::bf16);
  g.minimize(mean(square(dequantize(quantized_dense(x, w, b, {.scale = 0.5})))));
  const auto trains = [](const Graph& graph) {
    return plan_training(graph, {.optimizer = SGD{}, .batch = 4, .threads = 1});
  };
  EXPECT_THAT([&] { static_cast<void>(trains(g)); },
              testing::ThrowsMessage<Error>(testing::AllOf(
                  HasSubstr("nothing to train"), HasSubstr("with --trainable of thimble adapt"))));
  EXPECT_EQ(g.unfreeze("*"), 2);
  EXPECT_GT(trains(g).planned_peak_bytes, 0);
  EXPECT_THAT([&] { g.unfreeze("other"); },
              testing::ThrowsMessage<Error>(HasSubstr("no parameter of f32, i8 with a scale")));
}

// Quantization-aware scaling by hand: of a dense layer of one sample, and with a dead channel.
TEST(quantized_training, divides_gradients_by_squares_of_scales) {
  Graph g;
  const Quantization q{.scales = {0.5F, 0.25F, 1e-12F}, .axis = 0};
  const auto x = g.input("x", {2}, DType::i8, {.scales = {0.125F}});
  const auto w = g.parameter("w", {3, 2}, init::constant(4), DType::i8, q);
  const auto b = g.parameter("b", {3}, init::zeros(), DType::i32);
  const auto y = dequantize(quantized_dense(x, w, b, {.scale = 0.25}));
  g.minimize(sum(y));
  g.unfreeze("*");
  const data::Dataset one =
      data::in_memory({{"x", {2}, DType::i8}}, {Array(std::vector<int8_t>{8, -16}, {1, 2})});
  // By an integer of the weight: scale * x; that over the square is x over the scale: 1 and -2 by
  // 1/2 and 1/4. By the bias: 1 over scale of x times that of the weight. A dead channel counts
  // as 2^-10 of the largest scale: 1e-12 * 2^22 moves nothing that is seen.
  Trainer trainer(g, {.optimizer = SGD{.lr = 1.0}, .batch = 1, .seed = 5, .threads = 1});
  trainer.step(one);
  const std::vector<int8_t> weight = [&] {
    const Array values = trainer.parameter("w");
    const auto span = values.as<int8_t>();
    return std::vector<int8_t>(span.begin(), span.end());
  }();
  EXPECT_EQ(weight, (std::vector<int8_t>{2, 8, 0, 12, 4, 4}));
  const Array bias = trainer.parameter("b");
  EXPECT_EQ(bias.as<int32_t>()[0], -16);
  EXPECT_EQ(bias.as<int32_t>()[1], -32);
  EXPECT_EQ(bias.as<int32_t>()[2], 0);
  // Without the scaling, the gradient is by the integers: scale * x; -4 and 8 by 1/2 in the first
  // channel, and biases 1/8 of the scale.
  TrainerOptions plain{.optimizer = SGD{.lr = 1.0},
                       .batch = 1,
                       .quantization_aware_scaling = false,
                       .seed = 5,
                       .threads = 1};
  Trainer unscaled(g, plain);
  const Gradients gradients = unscaled.gradients(one);
  unscaled.step(one);
  const Array moved = unscaled.parameter("w");
  const std::vector<float> by_weight = gradients.values.at("w").floats();
  EXPECT_EQ(by_weight[0], 0.5F);
  EXPECT_EQ(by_weight[1], -1.0F);
  for (size_t i = 0; i < by_weight.size(); ++i) {
    EXPECT_LT(std::abs(static_cast<float>(moved.as<int8_t>()[i]) - (4.0F - by_weight[i])), 1.0F);
  }
}

}  // namespace
}  // namespace thimble::test::quantized_training_test
