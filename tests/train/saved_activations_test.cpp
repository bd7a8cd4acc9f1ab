// Activations kept in 16 bits for the backward pass, by the trainer's option.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "models/nearest_budget.h"

namespace thimble::train::saved_activations_test {
namespace {

struct Trained {
  Plan plan;
  double loss;
  std::string weights;
};

TrainerOptions options_of(const Recipe& recipe, DType saved, int64_t memory_budget = 0) {
  return {.optimizer = recipe.optimizer(),
          .batch = 8,
          .memory_budget = memory_budget,
          .saved_activations = saved,
          .seed = 3,
          .threads = 1};
}

Trained trained(const Recipe& recipe, const TrainerOptions& options, int64_t samples) {
  Trainer trainer(recipe.build(), options);
  const data::Dataset data = recipe.data("", data::Split::train).take(samples);
  const FitResult fit = trainer.fit(data, {.epochs = 2});
  return {trainer.plan(), fit.epochs.back().train.loss, trainer.weights_sha256()};
}

Trained trained(const Recipe& recipe, DType saved, int64_t samples, int64_t memory_budget = 0) {
  return trained(recipe, options_of(recipe, saved, memory_budget), samples);
}

class saved_activations : public ::testing::TestWithParam<const char*> {};

TEST_P(saved_activations, take_less_memory_and_train_as_well) {
  const Recipe& recipe = find_recipe(GetParam());
  const Trained exact = trained(recipe, DType::f32, 400);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Trained rounded = trained(recipe, dtype, 400);
    EXPECT_LT(rounded.plan.planned_peak_bytes, exact.plan.planned_peak_bytes);
    EXPECT_NE(rounded.weights, exact.weights);
    EXPECT_NEAR(rounded.loss, exact.loss, 0.05 * exact.loss);
  }
}

INSTANTIATE_TEST_SUITE_P(recipes, saved_activations, ::testing::Values("vae", "lenet5"),
                         [](const auto& info) { return std::string(info.param); });

TEST(saved_activations, keep_a_budget_that_is_too_small_for_whole_ones) {
  const Recipe& recipe = find_recipe("lenet5");
  const int64_t whole = test::nearest_budget(recipe.build(), options_of(recipe, DType::f32));
  const int64_t halves = test::nearest_budget(recipe.build(), options_of(recipe, DType::bf16));
  // Each is the smallest that a search found, which need not be the smallest possible.
  constexpr double kSearch = 1.02;
  EXPECT_LE(static_cast<double>(halves), kSearch * static_cast<double>(whole));
  const Trained tight = trained(recipe, DType::bf16, 24, halves);
  EXPECT_LE(tight.plan.planned_peak_bytes, halves);
}

// Which activations are rounded depends on the model alone.
TEST(saved_activations, give_the_same_bits_with_any_budget_and_threads) {
  for (const char* name : {"mlp", "vae"}) {
    const Recipe& recipe = find_recipe(name);
    const TrainerOptions options = options_of(recipe, DType::bf16);
    const int64_t free = plan_training(recipe.build(), options).planned_peak_bytes;
    const int64_t least = test::nearest_budget(recipe.build(), options);
    const std::string expected = trained(recipe, DType::bf16, 24).weights;
    for (const int64_t budget : {int64_t{0}, least, free + (64 << 10)}) {
      for (const int threads : {1, 4}) {
        TrainerOptions other = options;
        other.threads = threads;
        // Threads need memory of their own.
        other.memory_budget = budget == 0 ? 0 : budget + (threads - 1) * (256 << 10);
        EXPECT_EQ(trained(recipe, other, 24).weights, expected) << name << budget << threads;
      }
    }
  }
}

TEST(saved_activations, must_be_of_a_16_bit_floating_point_type) {
  const Graph model = find_recipe("lenet5").build();
  for (const DType dtype : {DType::i8, DType::boolean, DType::i32}) {
    EXPECT_THAT([&] { (void)plan_training(model, {.saved_activations = dtype}); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("expected f32, bf16 or f16")));
  }
}

}  // namespace
}  // namespace thimble::train::saved_activations_test
