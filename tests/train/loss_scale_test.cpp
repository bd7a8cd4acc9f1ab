// Training in f16: the loss scale and skipped updates, which change nothing else.
#include <gmock/gmock.h>
#include <thimble/compiled_training.h>
#include <thimble/ops.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <cmath>
#include <map>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/small_models.h"
#include "train/state.h"

namespace thimble::loss_scale_test {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr int64_t kBatch = 8;

// Without running statistics, which a skipped update changes as any forward pass does. factor: of
// the loss.
Graph network(float factor = 1.0F) {
  Graph g;
  const Value wanted = g.label("wanted", {3}, DType::f32);
  Value x = flatten(g.input("image", {8, 8, 2}));
  x = gelu(dense(x, {.units = 16, .name = "first"}));
  x = dense(x, {.units = 3, .name = "second"});
  g.minimize(mse(x, wanted) * factor);
  g.output("guess", x);
  return g;
}

TrainerOptions options(const LossScaling& scaling = {}, DType precision = DType::f16) {
  return {.optimizer = Adam{.lr = 1e-2F},
          .batch = kBatch,
          .precision = precision,
          .loss_scaling = scaling,
          .seed = 3,
          .threads = 1};
}

// All tensors of the trainer by name, except the scale.
std::map<std::string, std::vector<std::byte>> held(Trainer& trainer) {
  std::map<std::string, std::vector<std::byte>> all;
  exec::Store& store = trainer.state().runner.store();
  for (const exec::Store::Entry& entry : store.entries()) {
    if (entry.name.rfind("@loss_scale", 0) == 0) continue;
    const std::span<const std::byte> bytes = store.read(entry);
    all[entry.name].assign(bytes.begin(), bytes.end());
  }
  return all;
}

std::vector<double> losses(Trainer& trainer, const data::Dataset& data, int64_t epochs) {
  std::vector<double> all;
  FitOptions fit{.epochs = epochs};
  fit.on_epoch = [&](const EpochReport& report) { all.push_back(report.train.loss); };
  trainer.fit(data, fit);
  return all;
}

TEST(loss_scale, halves_where_gradients_overflow_and_nothing_else_changes) {
  const data::Dataset data = test::small_data(kBatch);
  TrainerOptions wanted = options({.initial = 0x1p40});
  wanted.ema_decay = 0.9;
  wanted.clip = GradientClip::by_global_norm(1.0);
  Trainer trainer(network(), wanted);
  const auto before = held(trainer);
  EXPECT_GT(before.size(), 12U);
  EXPECT_EQ(trainer.loss_scale(), 0x1p40);
  EXPECT_TRUE(std::isfinite(trainer.step(data).loss));
  EXPECT_EQ(trainer.loss_scale(), 0x1p39);
  EXPECT_EQ(trainer.skipped_updates(), 1);
  EXPECT_EQ(trainer.steps(), 1);
  EXPECT_EQ(held(trainer), before);
}

// Bias corrections of Adam and first steps of averages count updates, so that the numbers would
// differ if skipped steps counted.
TEST(loss_scale, continues_as_if_skipped_steps_had_not_run) {
  const data::Dataset data = test::small_data(kBatch);
  TrainerOptions wanted = options({.initial = 0x1p40});
  wanted.ema_decay = 0.9;
  Trainer late(network(), wanted);
  while (late.skipped_updates() == late.steps()) late.step(data);
  const int64_t skipped = late.skipped_updates();
  EXPECT_GT(skipped, 5);
  wanted.loss_scaling.initial = late.loss_scale();
  Trainer early(network(), wanted);
  early.step(data);
  EXPECT_EQ(held(early), held(late));
  for (int i = 0; i < 3; ++i) {
    early.step(data);
    late.step(data);
  }
  EXPECT_EQ(early.skipped_updates(), 0);
  EXPECT_EQ(late.skipped_updates(), skipped);
  EXPECT_EQ(held(early), held(late));
}

TEST(loss_scale, grows_after_an_interval_of_updates) {
  const data::Dataset data = test::small_data(kBatch);
  Trainer trainer(network(), options({.initial = 8.0, .growth = 4.0, .interval = 3}));
  std::vector<double> scales;
  for (int i = 0; i < 7; ++i) {
    trainer.step(data);
    scales.push_back(trainer.loss_scale());
  }
  EXPECT_EQ(scales, (std::vector<double>{8, 8, 32, 32, 32, 128, 128}));
  EXPECT_EQ(trainer.skipped_updates(), 0);
}

TEST(loss_scale, keeps_gradients_that_f16_alone_rounds_to_zero) {
  const data::Dataset data = test::small_data(kBatch);
  const auto gradient = [&](DType precision, double initial) {
    Trainer trainer(
        network(1e-7F),
        options(precision == DType::f16 ? LossScaling{.initial = initial} : LossScaling{},
                precision));
    return trainer.gradients(data).values.at("first.weight").floats();
  };
  const std::vector<float> full = gradient(DType::f32, 1.0);
  const auto distance = [&](const std::vector<float>& other) {
    double apart = 0.0;
    double size = 0.0;
    for (size_t i = 0; i < full.size(); ++i) {
      apart += std::pow(static_cast<double>(other[i] - full[i]), 2);
      size += std::pow(static_cast<double>(full[i]), 2);
    }
    return std::sqrt(apart / size);
  };
  EXPECT_EQ(gradient(DType::f16, 1.0), std::vector<float>(full.size(), 0.0F));
  EXPECT_LT(distance(gradient(DType::f16, 65536.0)), 0.01);
}

TEST(loss_scale, learns_as_f32_does_to_rounding) {
  const data::Dataset data = test::small_data(64);
  const auto learned = [&](DType precision) {
    Trainer trainer(test::small_network(), options({}, precision));
    return losses(trainer, data, 5);
  };
  const std::vector<double> full = learned(DType::f32);
  const std::vector<double> half = learned(DType::f16);
  EXPECT_LT(half.back(), 0.7 * half.front());
  EXPECT_NE(half, full);
  // Each activation is rounded to 11 bits, by at most 2^-11 of itself.
  for (size_t i = 0; i < full.size(); ++i) EXPECT_NEAR(half[i], full[i], 0.01 * full[i]) << i;
}

TEST(loss_scale, trains_recipes_as_f32_does) {
  for (const char* name : {"mlp", "lenet5", "vae"}) {
    const Recipe& recipe = find_recipe(name);
    const data::Dataset digits = data::digits(320, 1);
    const auto learned = [&](DType precision) {
      TrainerOptions wanted{.optimizer = recipe.optimizer(),
                            .batch = 32,
                            .precision = precision,
                            .seed = 1,
                            .threads = 1};
      if (precision == DType::f16) wanted.loss_scaling.initial = 16.0;
      Trainer trainer(recipe.build(), wanted);
      EXPECT_EQ(trainer.fit(digits, {.epochs = 2}).skipped_updates, 0) << name;
      return trainer.evaluate(digits).loss;
    };
    const double full = learned(DType::f32);
    EXPECT_NEAR(learned(DType::f16), full, 0.03 * std::abs(full)) << name;
  }
}

TEST(loss_scale, is_divided_out_before_gradients_are_limited_and_penalized) {
  const data::Dataset data = test::small_data(32);
  const auto trained = [&](double initial) {
    TrainerOptions wanted = options({.initial = initial});
    wanted.optimizer = SGD{.lr = 0.1F};
    wanted.clip = GradientClip::by_global_norm(0.5);
    wanted.groups = {{.pattern = "second.*", .l1 = 0.01, .l2 = 0.1}};
    Trainer trainer(network(), wanted);
    losses(trainer, data, 2);
    EXPECT_EQ(trainer.skipped_updates(), 0);
    return trainer.parameter("second.weight").as<float>();
  };
  const std::vector<float> a = trained(256.0);
  const std::vector<float> b = trained(4096.0);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3F) << i;
}

TEST(loss_scale, gives_the_same_bits_on_any_number_of_threads_and_within_any_budget) {
  const data::Dataset data = test::small_data(40);
  const auto trained = [&](int threads, int64_t budget, Swap swap) {
    TrainerOptions wanted = options({.initial = 0x1p24, .interval = 4});
    wanted.threads = threads;
    wanted.memory_budget = budget;
    wanted.swap = swap;
    Trainer trainer(test::small_network(), wanted);
    losses(trainer, data, 3);
    EXPECT_GT(trainer.skipped_updates(), 0);
    return held(trainer);
  };
  const auto one = trained(1, 0, Swap::never);
  EXPECT_EQ(trained(3, 0, Swap::never), one);
  for (const Swap swap : {Swap::never, Swap::always}) {
    TrainerOptions least = options();
    least.memory_budget = 1;
    least.swap = swap;
    const int64_t budget = plan_training(test::small_network(), least).nearest_feasible_bytes;
    EXPECT_EQ(trained(1, budget, swap), one);
  }
}

TEST(loss_scale, holds_for_all_parts_of_an_accumulated_update) {
  const data::Dataset data = test::small_data(kBatch);
  const auto trained = [&](int64_t accumulate, int64_t micro_batches) {
    TrainerOptions wanted = options({.initial = 0x1p40});
    wanted.accumulate = accumulate;
    wanted.micro_batches = micro_batches;
    Trainer trainer(network(), wanted);
    const auto before = held(trainer);
    for (int64_t i = 0; i < accumulate; ++i) trainer.step(data);
    EXPECT_EQ(trainer.loss_scale(), 0x1p39);
    EXPECT_EQ(trainer.skipped_updates(), 1);
    EXPECT_EQ(held(trainer), before) << "sums are cleared";
    for (int64_t i = 0; i < 40 * accumulate; ++i) trainer.step(data);
    EXPECT_LT(trainer.skipped_updates(), 39);
    return trainer.parameter("second.weight").as<float>();
  };
  const std::vector<float> whole = trained(1, 1);
  for (const std::vector<float>& other : {trained(1, 4), trained(2, 1), trained(2, 2)}) {
    for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(other[i], whole[i], 0.02F) << i;
  }
}

TEST(loss_scale, is_one_for_several_objectives) {
  const auto two = [] {
    Graph g;
    const Value wanted = g.label("wanted", {3}, DType::f32);
    const Value x = flatten(g.input("image", {8, 8, 2}));
    const Value a = mse(dense(x, {.units = 3, .name = "a"}), wanted);
    const Value b = mean(abs(dense(x, {.units = 3, .name = "b"}) - wanted));
    g.minimize(a);
    g.metric("other", b);
    return g;
  };
  const data::Dataset data = test::small_data(kBatch);
  const auto trained = [&](DType precision) {
    TrainerOptions wanted = options({}, precision);
    wanted.objectives = {{.loss = "other", .parameters = "b.*", .optimizer = SGD{.lr = 0.05F}}};
    if (precision == DType::f16) wanted.loss_scaling.initial = 0x1p30;
    Trainer trainer(two(), wanted);
    int64_t updates = 0;
    while (updates < 5) {
      trainer.step(data);
      updates = trainer.steps() - trainer.skipped_updates();
    }
    std::vector<float> weights = trainer.parameter("a.weight").as<float>();
    const std::vector<float> others = trainer.parameter("b.weight").as<float>();
    weights.insert(weights.end(), others.begin(), others.end());
    return weights;
  };
  const std::vector<float> full = trained(DType::f32);
  const std::vector<float> half = trained(DType::f16);
  for (size_t i = 0; i < full.size(); ++i) EXPECT_NEAR(half[i], full[i], 5e-3F) << i;
}

TEST(loss_scale, is_restored_from_a_checkpoint) {
  const test::TemporaryFolder folder;
  const data::Dataset data = test::small_data(40);
  const LossScaling scaling{.initial = 0x1p24, .interval = 3};
  Trainer whole(network(), options(scaling));
  whole.fit(data, {.epochs = 4});
  Trainer first(network(), options(scaling));
  first.fit(data, {.epochs = 2});
  EXPECT_GT(first.skipped_updates(), 0);
  first.save(folder / "c");
  // The first scale is that of the checkpoint.
  Trainer second(network(), options({.initial = 2.0, .interval = 3}));
  second.resume(folder / "c");
  EXPECT_EQ(second.loss_scale(), first.loss_scale());
  EXPECT_EQ(second.skipped_updates(), first.skipped_updates());
  second.fit(data, {.epochs = 4, .initial_epoch = second.epochs()});
  EXPECT_EQ(held(second), held(whole));
  EXPECT_EQ(second.loss_scale(), whole.loss_scale());
  Trainer other(network(), options({.interval = 5}));
  EXPECT_THAT(error_of([&] { other.resume(folder / "c"); }), HasSubstr("loss_scaling"));
}

TEST(loss_scale, is_kept_by_a_compiled_training) {
  const test::TemporaryFolder folder;
  const data::Dataset data = test::small_data(40);
  const TrainerOptions wanted = options({.initial = 0x1p24, .interval = 3});
  CompiledTraining(network(), wanted, {.samples = 40}).save(folder / "p");
  Trainer compiled(CompiledTraining::load(folder / "p"));
  EXPECT_EQ(compiled.options().loss_scaling, wanted.loss_scaling);
  Trainer trainer(network(), wanted);
  trainer.fit(data, {.epochs = 2});
  compiled.fit(data, {.epochs = 2});
  EXPECT_GT(compiled.skipped_updates(), 0);
  EXPECT_EQ(compiled.skipped_updates(), trainer.skipped_updates());
  EXPECT_EQ(compiled.loss_scale(), trainer.loss_scale());
  EXPECT_EQ(held(compiled), held(trainer));
}

TEST(loss_scale, is_reported) {
  const data::Dataset data = test::small_data(40);
  Trainer trainer(network(), options({.initial = 0x1p24}));
  std::vector<StepReport> steps;
  FitOptions fit{.epochs = 3};
  fit.on_step = [&](const StepReport& step) { steps.push_back(step); };
  const FitResult result = trainer.fit(data, fit);
  int64_t skipped = 0;
  double scale = 0x1p24;
  for (const StepReport& step : steps) {
    if (step.skipped) scale /= 2, ++skipped;
    EXPECT_EQ(step.loss_scale, scale);
  }
  EXPECT_GT(skipped, 0);
  EXPECT_EQ(result.skipped_updates, skipped);
  EXPECT_EQ(result.loss_scale, scale);
  Trainer full(network(), options({}, DType::f32));
  EXPECT_EQ(full.fit(data, {}).loss_scale, 0.0);
}

TEST(loss_scale, ends_training_where_gradients_are_not_finite_by_themselves) {
  Graph g;
  const Value x = g.input("image", {8, 8, 2});
  Value y = dense(flatten(x), {.units = 2, .bias = false, .weight_init = init::zeros()});
  g.minimize(mean(sqrt(square(y))));  // infinity times 0
  TrainerOptions wanted = options({.initial = 1.0});
  Trainer trainer(g, wanted);
  const data::Dataset data = data::in_memory(
      {{"image", {8, 8, 2}}}, {std::vector<float>(static_cast<size_t>(kBatch * 128), 1.0F)});
  EXPECT_THAT(error_of([&] {
                for (int i = 0; i < 100; ++i) trainer.step(data);
              }),
              HasSubstr("are not finite, even with the loss scaled down to"));
}

TEST(loss_scale, refuses_wrong_settings) {
  const auto error = [](const LossScaling& scaling, DType precision = DType::f16) {
    return error_of([&] { Trainer(network(), options(scaling, precision)); });
  };
  EXPECT_THAT(error({.initial = 0.0}), HasSubstr("initial must be above 0"));
  EXPECT_THAT(error({.initial = 1e39}), HasSubstr("initial must be above 0"));
  EXPECT_THAT(error({.growth = 0.9}), HasSubstr("growth must be at least 1"));
  EXPECT_THAT(error({.backoff = 1.0}), HasSubstr("backoff must be above 0 and below 1"));
  EXPECT_THAT(error({.interval = 0}), HasSubstr("interval must be at least 1"));
  EXPECT_THAT(error({.initial = 2.0}, DType::bf16), HasSubstr("does nothing with the precision"));
  EXPECT_THAT(error({}, DType::i32), HasSubstr("expected f32, bf16 or f16, got i32"));
}

}  // namespace
}  // namespace thimble::loss_scale_test
