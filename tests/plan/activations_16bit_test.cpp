// Values stored in 16 bits until the backward pass: which, how much memory that saves, and how
// results change.
#include "plan/remat/storage.h"

#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <cmath>

#include "passes/passes.h"
#include "plan/lifetimes.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "train/compile.h"
#include "train/saved_activations.h"
#include "train/stepper.h"
#include "train/update.h"

namespace thimble::plan::activations_16bit_test {
namespace {

constexpr int64_t kSamples = 4;

ir::Graph step_of(const Graph& model) {
  const ir::Graph step = train::training_graph(model.ir(), {.optimizer = SGD{}, .batch = kSamples},
                                               kSamples, train::StepKind::update);
  return recompute(order_nodes(passes::optimize(step)), {});
}

Graph chain(int layers) {
  Graph g;
  Value x = g.input("x", {16, 16, 3});
  for (int i = 0; i < layers; ++i) {
    x = conv2d(x, {.channels = 8, .kernel = 3, .padding = 1, .name = "c" + std::to_string(i)});
    x = gelu(x);
  }
  g.minimize(mean(square(x)));
  return g;
}

struct Trained {
  std::vector<float> losses;
  std::vector<std::vector<float>> weights;
};

Trained trained(const ir::Graph& graph, int steps) {
  test::Stepper stepper({&graph}, {.optimize = false});
  Trained result;
  for (int step = 0; step < steps; ++step) {
    std::vector<float> x(kSamples * 16 * 16 * 3);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(0.37F * static_cast<float>(i % 97 * (i % 5 + 1)) + static_cast<float>(step));
    }
    stepper.set("x", x);
    stepper.set(train::kLearningRateName, std::vector<float>{0.1F});
    stepper.set(train::kUpdateNumberName, std::vector<int32_t>{step + 1});
    EXPECT_TRUE(stepper.run());
    result.losses.push_back(test::floats(stepper.session().loss())[0]);
  }
  for (const exec::Store::Entry& entry : stepper.store().entries()) {
    result.weights.push_back(stepper.stored(entry.name));
  }
  return result;
}

TEST(activations_16bit, take_half_the_memory_until_the_backward_pass) {
  const ir::Graph before = step_of(chain(12));
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const ir::Graph after = store_in_16_bits(before, train::saved_activations(dtype), {});
    ir::verify(after);
    EXPECT_GT(stored_as(after, ir::Storage::bits16).size(), 8U);
    EXPECT_LT(static_cast<double>(live_peak_bytes(after)),
              0.7 * static_cast<double>(live_peak_bytes(before)));
    for (const ir::ValueData& data : after.values) {
      EXPECT_TRUE(data.storage != ir::Storage::bits16 || data.type.dtype == dtype);
    }
  }
}

TEST(activations_16bit, round_gradients_and_leave_the_first_loss_exact) {
  const ir::Graph before = step_of(chain(6));
  const Trained exact = trained(before, 2);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Trained rounded =
        trained(store_in_16_bits(before, train::saved_activations(dtype), {}), 2);
    EXPECT_EQ(rounded.losses[0], exact.losses[0]);
    EXPECT_NE(rounded.weights, exact.weights);
    // Activations have 8 or 11 significant bits; some updates are rounded once per layer.
    const double tolerance = dtype == DType::bf16 ? 2e-2 : 2e-3;
    const ir::Graph& graph = before;
    const test::Stepper untrained({&graph}, {.optimize = false});
    size_t at = 0;
    for (const exec::Store::Entry& entry : untrained.store().entries()) {
      const std::vector<float> first = untrained.stored(entry.name);
      const std::vector<float>& a = exact.weights[at];
      const std::vector<float>& b = rounded.weights[at++];
      double change = 0.0;
      double error = 0.0;
      for (size_t i = 0; i < first.size(); ++i) {
        change += std::pow(static_cast<double>(a[i] - first[i]), 2);
        error += std::pow(static_cast<double>(a[i] - b[i]), 2);
      }
      EXPECT_LT(std::sqrt(error), tolerance * std::sqrt(change)) << entry.name;
    }
  }
}

TEST(activations_16bit, leave_indices_and_small_values) {
  Graph g;
  const Value words = g.input("words", {64}, DType::i32);
  const Value x = gelu(dense(embedding(words, {.embeddings = 50, .width = 16}), {.units = 16}));
  g.minimize(mean(square(layer_norm(x))));
  const ir::Graph after = store_in_16_bits(step_of(g), train::saved_activations(DType::bf16), {});
  for (const ir::Node& node : after.nodes) {
    for (const int id : node.outputs) {
      if (after.data(id).storage != ir::Storage::bits16) continue;
      EXPECT_EQ(after.type(node.inputs[0]).dtype, DType::f32);
      EXPECT_GE(size_bytes(DType::f32, after.type(id).shape), 4096);
    }
  }
  Graph small = chain(2);
  const ir::Graph same = store_in_16_bits(step_of(small), ActivationStorage{}, {});
  EXPECT_TRUE(stored_as(same, ir::Storage::bits16).empty());
}

}  // namespace
}  // namespace thimble::plan::activations_16bit_test
