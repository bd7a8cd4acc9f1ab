// Gradients of int8 activations that are stored in 8 bits (TrainerOptions::error_type).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/temporary_folder.h"

namespace thimble::test::error_type_test {
namespace {

using testing::HasSubstr;

const data::Dataset& digits() {
  static const data::Dataset all = data::digits(400, 1);
  return all;
}

// An int8 network of residual blocks, shortly trained in f32.
const Graph& residual_network() {
  static const Graph made = [] {
    Graph g;
    const Value image = g.input("image", {28, 28, 1});
    const Value digit = g.label("digit");
    Value x = relu(conv2d(image, {.channels = 8, .kernel = 3, .stride = 2, .padding = 1}));
    for (int block = 0; block < 2; ++block) {
      Value y = relu6(conv2d(x, {.channels = 32, .kernel = 1}));
      y = relu6(depthwise_conv2d(y, {.kernel = 3, .padding = 1}));
      x = x + conv2d(y, {.channels = 8, .kernel = 1});
    }
    const Value logits =
        dense(flatten(max_pool2d(x, {.kernel = 2})), {.units = 10, .name = "head"});
    g.minimize(softmax_cross_entropy(logits, digit));
    g.metric("accuracy", accuracy(logits, digit));
    g.output("logits", logits);
    Trainer trainer(g, {.optimizer = Adam{.lr = 3e-3}, .batch = 16, .seed = 1, .threads = 2});
    trainer.fit(digits(), {.epochs = 1});
    const TemporaryFolder folder;
    trainer.save_model(folder / "m.safetensors");
    return quantize_model(load_model(folder / "m.safetensors"), digits(), {.samples = 64}).graph;
  }();
  return made;
}

TrainerOptions options(DType error_type, const Optimizer& optimizer = SGD{.lr = 0.02}) {
  return {.optimizer = optimizer, .batch = 16, .error_type = error_type, .seed = 3, .threads = 2};
}

// Every error is rounded to 255 steps: it misses by at most 1/254 of its largest number, about 1 %
// of its norm. Gradients sum many of these, of either sign, of all layers up to theirs.
constexpr double kMostOfNorm = 0.06;

TEST(error_type, of_i8_gives_nearly_the_gradients_of_f32) {
  const data::Dataset batch = digits().take(16);
  const Gradients exact = Trainer(residual_network(), options(DType::f32)).gradients(batch);
  const Gradients rounded = Trainer(residual_network(), options(DType::i8)).gradients(batch);
  ASSERT_EQ(exact.values.size(), rounded.values.size());
  int changed = 0;
  for (const auto& [name, gradient] : exact.values) {
    const std::vector<float> wanted = gradient.floats();
    const std::vector<float> got = rounded.values.at(name).floats();
    ASSERT_EQ(got.size(), wanted.size());
    double miss = 0.0;
    double norm = 0.0;
    for (size_t i = 0; i < got.size(); ++i) {
      const auto w = static_cast<double>(wanted[i]);
      miss += std::pow(static_cast<double>(got[i]) - w, 2.0);
      norm += w * w;
    }
    EXPECT_LE(std::sqrt(miss), kMostOfNorm * std::sqrt(norm)) << name;
    changed += miss > 0.0 ? 1 : 0;
  }
  EXPECT_GT(changed, 4);
}

TEST(error_type, of_i8_is_refused_where_no_activation_is_int8) {
  Graph g;
  const Value y = dense(flatten(g.input("image", {28, 28, 1})), {.units = 10});
  g.minimize(softmax_cross_entropy(y, g.label("digit")));
  try {
    static_cast<void>(plan_training(g, options(DType::i8)));
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("this model has none; quantize it first"));
  }
}

TEST(error_type, of_i8_takes_less_memory) {
  const Plan exact = plan_training(residual_network(), options(DType::f32));
  const Plan rounded = plan_training(residual_network(), options(DType::i8));
  EXPECT_LT(rounded.planned_peak_bytes, exact.planned_peak_bytes);
}

// A chain of layers whose first images are the largest: there the errors are what a step holds.
TEST(error_type, of_i8_takes_less_memory_along_a_chain) {
  Graph g;
  Value x = g.input("image", {28, 28, 1});
  x = relu(conv2d(x, {.channels = 16, .kernel = 3, .padding = 1, .name = "first"}));
  x = relu(depthwise_conv2d(x, {.kernel = 3, .stride = 2, .padding = 1}));
  x = relu(conv2d(x, {.channels = 32, .kernel = 1}));
  x = relu(conv2d(x, {.channels = 16, .kernel = 3, .stride = 2, .padding = 1}));
  g.minimize(softmax_cross_entropy(dense(flatten(x), {.units = 10}), g.label("digit")));
  const TemporaryFolder folder;
  Trainer(g, options(DType::f32)).save_model(folder / "m");
  const Graph chain = quantize_model(load_model(folder / "m"), digits(), {.samples = 16}).graph;
  for (const bool reference : {false, true}) {
    int64_t arena = 0;
    for (const DType type : {DType::f32, DType::i8}) {
      TrainerOptions chosen = options(type, SGD{});
      chosen.reference_kernels = reference;
      const Plan plan = plan_training(chain, chosen);
      // f32 errors of the first two layers alone: 4 * 16 * (784 + 196) * 16 samples.
      if (type == DType::i8) {
        EXPECT_LT(plan.arena_bytes, arena / 2);
      }
      arena = plan.arena_bytes;
    }
  }
}

TEST(error_type, of_i8_trains_and_moves_nothing_at_a_rate_of_0) {
  Trainer still(residual_network(), options(DType::i8, SGD{.lr = 0.0}));
  const std::string before = still.weights_sha256();
  still.fit(digits().take(64), {.epochs = 1});
  EXPECT_EQ(still.weights_sha256(), before);
  Trainer trainer(residual_network(), options(DType::i8, Adam{.lr = 2e-3}));
  const double loss = trainer.evaluate(digits()).loss;
  trainer.fit(digits(), {.epochs = 3});
  EXPECT_LT(trainer.evaluate(digits()).loss, 0.8 * loss);
}

TEST(error_type, of_i8_has_the_same_bits_for_any_threads_and_recomputation) {
  const auto hash = [](TrainerOptions chosen) {
    Trainer trainer(residual_network(), chosen);
    trainer.fit(digits().take(64), {.epochs = 1});
    return trainer.weights_sha256();
  };
  const std::string wanted = hash(options(DType::i8));
  TrainerOptions alone = options(DType::i8);
  alone.threads = 1;
  EXPECT_EQ(hash(alone), wanted);
  TrainerOptions budgeted = options(DType::i8);
  budgeted.memory_budget = int64_t{64} << 20;
  EXPECT_EQ(hash(budgeted), wanted);
  EXPECT_NE(hash(options(DType::f32)), wanted);
}

TEST(error_type, is_kept_by_checkpoints_and_refused_where_it_is_none) {
  const TemporaryFolder folder;
  Trainer trainer(residual_network(), options(DType::i8));
  trainer.save(folder / "c");
  Trainer other(residual_network(), options(DType::f32));
  EXPECT_THAT(error_of([&] { other.resume(folder / "c"); }),
              HasSubstr("made with error_type \"i8\", this run has \"f32\""));
  EXPECT_THAT(error_of([] { (void)plan_training(residual_network(), options(DType::bf16)); }),
              HasSubstr("[error_type] expected f32 or i8, got bf16"));
}

}  // namespace
}  // namespace thimble::test::error_type_test
