// Training in 16 bits: what stays f32, how much memory it takes, and that it is deterministic.
#include <gmock/gmock.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/small_models.h"
#include "passes/passes.h"
#include "train/compile.h"

namespace thimble::mixed_precision_test {
namespace {

using test::error_of;
using testing::HasSubstr;

Graph deep() {
  Graph g;
  const Value target = g.label("wanted", {3}, DType::f32);
  Value x = g.input("image", {8, 8, 2});
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    x = gelu(batch_norm(conv2d(x, {.channels = 8, .kernel = 3, .padding = 1, .name = "conv" + n}),
                        {.name = "norm" + n}));
  }
  x = dense(flatten(x), {.units = 3, .name = "dense"});
  g.minimize(mse(x, target));
  g.metric("mean", mean(x));
  g.output("guess", x);
  return g;
}

TrainerOptions options(DType precision, int threads = 1, int64_t budget = 0) {
  return {.optimizer = Adam{.lr = 1e-3F},
          .batch = 16,
          .memory_budget = budget,
          .precision = precision,
          .seed = 3,
          .threads = threads};
}

TEST(mixed_precision, keeps_parameters_states_and_the_loss_in_f32) {
  const Graph g = deep();
  const ir::Graph mixed = passes::mixed_precision(g.ir(), DType::bf16);
  EXPECT_NO_THROW(ir::verify(mixed));
  EXPECT_EQ(mixed.type(*mixed.loss).dtype, DType::f32);
  EXPECT_EQ(mixed.type(mixed.outputs[0].second).dtype, DType::f32);
  EXPECT_EQ(mixed.type(mixed.metrics[0].second).dtype, DType::f32);
  int narrow = 0;
  for (const ir::Node& node : mixed.nodes) {
    const std::string op = node.op->name;
    if (op == "conv2d" || op == "gelu" || op == "batch_norm") {
      EXPECT_EQ(mixed.type(node.outputs[0]).dtype, DType::bf16) << op;
      ++narrow;
    }
  }
  EXPECT_EQ(narrow, 18);
  const ir::Graph step =
      train::training_graph(mixed, options(DType::bf16), 16, train::StepKind::update);
  EXPECT_NO_THROW(ir::verify(step));
  for (const ir::ValueData& data : step.values) {
    if (ir::is_persistent(data.role)) {
      EXPECT_TRUE(data.type.dtype != DType::bf16) << *data.name;
    }
  }
  EXPECT_EQ(passes::mixed_precision(g.ir(), DType::f32).nodes.size(), g.ir().nodes.size());
}

// A random number below 1000 that is rounded in 16 bits may be 1000, an invalid index.
TEST(mixed_precision, computes_indices_in_f32) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value uniform = random_uniform(g, {kBatch}, {.high = 10.0});
  const Value times = cast(uniform * 100.0F, DType::i32);
  const Value rows = embedding(times, {.embeddings = 1000, .width = 4, .name = "time"});
  g.minimize(mean(square(x * rows + reshape(uniform, {-1, 1}))));
  const ir::Graph mixed = passes::mixed_precision(g.ir(), DType::bf16);
  EXPECT_NO_THROW(ir::verify(mixed));
  bool found = false;
  for (const ir::Node& node : mixed.nodes) {
    if (node.op->name != std::string("cast") || mixed.type(node.outputs[0]).dtype != DType::i32) {
      continue;
    }
    found = true;
    const int product = node.inputs[0];
    EXPECT_EQ(mixed.type(product).dtype, DType::f32);
    const ir::Node& producer =
        mixed.nodes[static_cast<size_t>(mixed.values[static_cast<size_t>(product)].producer)];
    EXPECT_EQ(mixed
                  .nodes[static_cast<size_t>(
                      mixed.values[static_cast<size_t>(producer.inputs[0])].producer)]
                  .op->name,
              std::string("random_uniform"));
  }
  EXPECT_TRUE(found);
}

TEST(mixed_precision, takes_less_memory) {
  const auto arena = [](DType precision) {
    Graph g;
    Value x = g.input("x", {128});
    for (int i = 0; i < 24; ++i) x = gelu(dense(x, {.units = 128}));
    g.minimize(mean(square(x)));
    return plan_training(g,
                         {.batch = 256, .swap = Swap::never, .precision = precision, .threads = 1})
        .arena_bytes;
  };
  // Half of the kept values, plus the copies that an op widens while it runs.
  EXPECT_LT(arena(DType::bf16), 7 * arena(DType::f32) / 8) << arena(DType::f32);
}

int64_t arena_of(const Recipe& recipe, DType precision) {
  return plan_training(recipe.build(), {.optimizer = recipe.optimizer(),
                                        .ema_decay = recipe.ema_decay,
                                        .batch = recipe.batch,
                                        .swap = Swap::never,
                                        .precision = precision,
                                        .threads = 1})
      .arena_bytes;
}

// Large weights beside small activations; recurrent layers, which are widened whole.
TEST(mixed_precision, takes_less_memory_for_large_weights_and_for_recurrent_layers) {
  for (const char* const name : {"mlp", "lstm", "vae"}) {
    const Recipe& recipe = find_recipe(name);
    EXPECT_LT(arena_of(recipe, DType::bf16), arena_of(recipe, DType::f32)) << name;
  }
  const Recipe& recurrent = find_recipe("lstm");
  EXPECT_LT(arena_of(recurrent, DType::f16), arena_of(recurrent, DType::f32));
}

// Weights whose gradient takes more than f32 copies of what it is computed from, so that its update
// is tiled.
Graph with_large_weights() {
  Graph g;
  const Value target = g.label("wanted", {3}, DType::f32);
  Value x = gelu(dense(flatten(g.input("image", {8, 8, 2})), {.units = 300, .name = "first"}));
  x = gelu(dense(x, {.units = 400, .name = "second"}));
  x = dense(x, {.units = 3, .name = "last"});
  g.minimize(mse(x, target));
  g.metric("mean", mean(x));
  g.output("guess", x);
  return g;
}

std::vector<std::string> tiled_updates(const TrainerOptions& wanted) {
  std::vector<std::string> found;
  for (const PlanStep& step : plan_training(with_large_weights(), wanted).steps) {
    if (step.op.rfind("tiled", 0) == 0) found.push_back(step.op);
  }
  return found;
}

TEST(mixed_precision, tiles_the_updates_of_large_weights) {
  EXPECT_EQ(tiled_updates(options(DType::bf16)), tiled_updates(options(DType::f32)));
  EXPECT_FALSE(tiled_updates(options(DType::bf16)).empty());
  // With f16 they divide a whole gradient of 16 bits by the scale.
  EXPECT_FALSE(tiled_updates(options(DType::f16)).empty());
  // A limit on the norm of all gradients needs whole ones.
  TrainerOptions limited = options(DType::bf16);
  limited.clip = GradientClip::by_global_norm(1.0);
  EXPECT_TRUE(tiled_updates(limited).empty());
  const data::Dataset data = test::small_data(40);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const auto trained = [&](int threads, int64_t budget) {
      Trainer trainer(with_large_weights(), options(dtype, threads, budget));
      trainer.fit(data, {.epochs = 2});
      return trainer.weights_sha256();
    };
    const std::string one = trained(1, 0);
    EXPECT_EQ(trained(3, 0), one) << to_string(dtype);
    const Plan least = plan_training(with_large_weights(), options(dtype, 1, 1));
    EXPECT_EQ(trained(1, least.nearest_feasible_bytes), one) << to_string(dtype);
  }
}

TEST(mixed_precision, is_the_same_on_any_number_of_threads_and_within_any_budget) {
  const data::Dataset data = test::small_data(40);
  const auto trained = [&](int threads, int64_t budget) {
    Trainer trainer(deep(), options(DType::bf16, threads, budget));
    trainer.fit(data, {.epochs = 2});
    return trainer.weights_sha256();
  };
  const std::string one = trained(1, 0);
  EXPECT_EQ(trained(3, 0), one);
  const Plan least = plan_training(deep(), options(DType::bf16, 1, 1));
  EXPECT_EQ(trained(1, least.nearest_feasible_bytes), one);
}

// Each activation is rounded to 8 bits of mantissa, by at most 2^-9 of itself.
TEST(mixed_precision, learns_as_f32_does_to_rounding) {
  const data::Dataset data = test::small_data(64);
  const auto losses = [&](DType precision) {
    Trainer trainer(test::small_network(), options(precision));
    std::vector<double> all;
    FitOptions fit{.epochs = 5};
    fit.on_epoch = [&](const EpochReport& report) { all.push_back(report.train.loss); };
    trainer.fit(data, fit);
    return all;
  };
  const std::vector<double> full = losses(DType::f32);
  const std::vector<double> half = losses(DType::bf16);
  EXPECT_LT(half.back(), half.front());
  EXPECT_NE(half, full);
  for (size_t i = 0; i < full.size(); ++i) EXPECT_NEAR(half[i], full[i], 0.02 * full[i]) << i;
}

TEST(mixed_precision, is_a_setting_of_a_checkpoint) {
  const test::TemporaryFolder folder;
  Trainer trainer(test::small_network(), options(DType::bf16));
  trainer.save(folder / "c");
  Trainer other(test::small_network(), options(DType::f32));
  EXPECT_THAT(error_of([&] { other.resume(folder / "c"); }), HasSubstr("precision"));
  EXPECT_NO_THROW(other.load_weights(folder / "c"));
}

}  // namespace
}  // namespace thimble::mixed_precision_test
