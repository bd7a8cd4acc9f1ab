// One step, and gradients, on samples that the caller gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <cmath>

#include "harness/error_of.h"
#include "models/small_models.h"

namespace thimble::single_step_test {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr int64_t kBatch = 8;

TrainerOptions options() { return {.optimizer = SGD{.lr = 0.1}, .batch = kBatch, .threads = 1}; }

TEST(single_step, is_a_step_of_fit) {
  const data::Dataset data = test::small_data(2 * kBatch);
  Trainer fitted(test::small_network(), options());
  fitted.fit(data, {.shuffle = false});
  Trainer stepped(test::small_network(), options());
  const double before =
      Trainer(test::small_network(), options()).gradients(data.take(kBatch)).batch.loss;
  EXPECT_EQ(stepped.step(data.take(kBatch)).loss, before);
  stepped.step(data.subset({8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(stepped.steps(), 2);
  EXPECT_EQ(stepped.epochs(), 0);
  EXPECT_EQ(stepped.weights_sha256(), fitted.weights_sha256());
  EXPECT_EQ(stepped.parameter("norm.running_var").floats(),
            fitted.parameter("norm.running_var").floats());
}

TEST(single_step, takes_fewer_samples_and_goes_on_in_fit) {
  Trainer trainer(test::small_network(), options());
  EXPECT_EQ(trainer.step(test::small_data(3)).samples, 3);
  EXPECT_EQ(trainer.fit(test::small_data(kBatch)).steps, 2);
  EXPECT_EQ(trainer.epochs(), 1);
}

// SGD without momentum moves each parameter by -lr times its gradient.
TEST(gradients, are_what_the_next_step_uses_and_change_nothing) {
  const data::Dataset data = test::small_data(kBatch);
  for (const int64_t parts : {1, 3}) {
    TrainerOptions wanted = options();
    wanted.micro_batches = parts;
    wanted.split_batch_norm = parts > 1;
    Trainer trainer(test::small_network(), wanted);
    const std::string hash = trainer.weights_sha256();
    const std::vector<float> statistics = trainer.parameter("norm.running_mean").floats();
    const Gradients gradients = trainer.gradients(data);
    EXPECT_EQ(gradients.values.size(), 6U);
    EXPECT_EQ(gradients.batch.samples, kBatch);
    EXPECT_EQ(trainer.weights_sha256(), hash);
    EXPECT_EQ(trainer.parameter("norm.running_mean").floats(), statistics);
    EXPECT_EQ(trainer.steps(), 0);
    EXPECT_EQ(trainer.gradients(data).values, gradients.values);
    std::map<std::string, std::vector<float>> before;
    for (const auto& [name, values] : gradients.values)
      before[name] = trainer.parameter(name).floats();
    EXPECT_EQ(trainer.step(data).loss, gradients.batch.loss);
    EXPECT_NE(trainer.parameter("norm.running_mean").floats(), statistics);
    constexpr double kRounding = 1e-6;
    for (const auto& [name, gradient] : gradients.values) {
      EXPECT_EQ(gradient.shape(), trainer.parameter(name).shape()) << name;
      const std::vector<float> values = gradient.floats();
      const std::vector<float> after = trainer.parameter(name).floats();
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_NEAR(after[i], before[name][i] - 0.1F * values[i], kRounding) << name << " " << i;
      }
    }
  }
}

TEST(gradients, of_noise_are_those_of_the_step) {
  Graph g;
  const Value x = dropout(g.input("x", {16}), {.p = 0.5});
  g.minimize(mean(dense(x, {.units = 1, .name = "d"})));
  Trainer trainer(g, options());
  const data::Dataset ones =
      data::in_memory({{"x", {16}}}, {std::vector<float>(16 * kBatch, 1.0F)});
  const Array first = trainer.gradients(ones).values.at("d.weight");
  EXPECT_EQ(trainer.gradients(ones).values.at("d.weight"), first);
  trainer.step(ones);
  EXPECT_NE(trainer.gradients(ones).values.at("d.weight"), first);
}

TEST(gradients, keep_a_budget_or_say_what_they_need) {
  Graph g = test::small_network();
  TrainerOptions wanted = options();
  const Array free =
      Trainer(g, wanted).gradients(test::small_data(kBatch)).values.at("conv.weight");
  wanted.memory_budget = int64_t{1} << 20;
  wanted.swap = Swap::never;
  EXPECT_EQ(Trainer(g, wanted).gradients(test::small_data(kBatch)).values.at("conv.weight"), free);
}

TEST(single_step, refuses_samples_that_do_not_fit_and_losses_that_are_not_finite) {
  Trainer trainer(test::small_network(), options());
  EXPECT_THAT(error_of([&] { trainer.step(test::small_data(9)); }),
              HasSubstr("[step] expected 1 to 8 samples, the trainer's batch; got 9"));
  EXPECT_THAT(error_of([&] { static_cast<void>(trainer.gradients(test::small_data(9))); }),
              HasSubstr("[gradients] expected 1 to 8 samples"));
  const std::vector<float> statistics = trainer.parameter("norm.running_mean").floats();
  trainer.set_parameter("dense.bias", {INFINITY, 0.0F, 0.0F});
  EXPECT_THAT(error_of([&] { static_cast<void>(trainer.gradients(test::small_data(4))); }),
              HasSubstr("[training] the loss is not finite, so there are no gradients; the first"));
  EXPECT_EQ(trainer.parameter("norm.running_mean").floats(), statistics);
}

}  // namespace
}  // namespace thimble::single_step_test
