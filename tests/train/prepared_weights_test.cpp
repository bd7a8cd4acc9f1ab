// Programs that keep int8 weights packed: they give the same results as those that pack them in
// every step, also after the weights changed, and their plan counts the bytes.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <cstring>
#include <memory>
#include <vector>

#include "train/compile.h"
#include "train/runner.h"

namespace thimble::train::prepared_weights_test {
namespace {

constexpr ProgramKey kKey{0, 3};

// A dense layer, a depthwise and an ordinary convolution, and one of groups, which has no packed
// form.
Graph model() {
  Graph g;
  const Quantization scale{.scales = {0.02F}};
  const auto weight = [&](const char* name, const Shape& shape) {
    return g.parameter(name, shape, init::constant(0), DType::i8, scale);
  };
  const auto bias = [&](const char* name, int64_t channels) {
    return g.parameter(name, {channels}, init::constant(0), DType::i32);
  };
  Value x = g.input("x", {6, 5, 20}, DType::i8, {.scales = {0.05F}, .zero_points = {3}});
  const auto fixed = Requantization::fixed_point;
  x = quantized_conv2d(x, weight("a", {20, 3, 3, 1}), bias("a.bias", 20),
                       {.padding = 1, .groups = 20, .scale = 0.03, .requantization = fixed});
  x = quantized_conv2d(x, weight("b", {24, 3, 3, 20}), bias("b.bias", 24), {.scale = 0.2});
  x = quantized_conv2d(x, weight("c", {8, 1, 1, 12}), bias("c.bias", 8),
                       {.groups = 2, .scale = 0.2});
  g.output("y", quantized_dense(reshape(x, {x.shape()[0], 4 * 3 * 8}), weight("d", {5, 4 * 3 * 8}),
                                bias("d.bias", 5), {.scale = 0.5, .requantization = fixed}));
  return g;
}

void fill(std::span<std::byte> bytes, uint32_t seed) {
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>((seed = seed * 1664525 + 1013904223) >> 24);
}

// Small numbers in biases, any in weights.
void set_weights(Runner& runner, uint32_t seed) {
  for (const exec::Store::Entry& entry : runner.store().entries()) {
    runner.store().overwrite(entry, [&](std::span<std::byte> bytes) {
      fill(bytes, ++seed);
      for (size_t i = 0; entry.type.dtype == DType::i32 && i < bytes.size(); ++i) {
        if (i % 4 > 0) bytes[i] = std::byte{0};
      }
    });
  }
}

std::vector<std::byte> result_of(Runner& runner) {
  exec::Session& session = *runner.find(kKey)->session;
  fill(session.source("x"), 9);
  EXPECT_TRUE(session.run());
  const std::span<const std::byte> y = session.output("y");
  return {y.begin(), y.end()};
}

TEST(prepared_weights, give_the_same_results_before_and_after_they_change) {
  for (const int threads : {1, 2}) {
    Runner kept(threads);
    Runner packing(threads);
    kept.add_inference(kKey, inference_graph(model().ir(), kKey.batch, false));
    packing.add(kKey, inference_graph(model().ir(), kKey.batch, false));
    kept.seal();
    packing.seal();
    std::vector<std::vector<std::byte>> results;
    for (const uint32_t seed : {1U, 2U}) {
      set_weights(kept, seed);
      set_weights(packing, seed);
      results.push_back(result_of(kept));
      EXPECT_EQ(results.back(), result_of(packing));
      EXPECT_EQ(results.back(), result_of(kept));
    }
    EXPECT_NE(results[0], results[1]);
    // Written without a function of the store.
    const exec::Store::Entry& entry = *kept.store().find("d");
    fill({entry.data, entry.bytes()}, 77);
    fill({packing.store().find("d")->data, entry.bytes()}, 77);
    kept.store().changed();
    EXPECT_EQ(result_of(kept), result_of(packing));
    EXPECT_NE(result_of(kept), results[1]);
  }
}

TEST(prepared_weights, are_counted_in_the_plan) {
  const auto account = std::make_shared<exec::Account>();
  const exec::Counting counting(account);
  Runner runner(1);
  runner.add_inference(kKey, inference_graph(model().ir(), kKey.batch, false));
  runner.seal();
  EXPECT_EQ(account->held(), runner.plan(kKey).planned_peak_bytes);
  // Those of another batch size pack in every step.
  runner.extend({0, 1}, inference_graph(model().ir(), kKey.batch, false));
  EXPECT_EQ(account->held(), runner.plan(kKey).planned_peak_bytes);
  EXPECT_EQ(account->held(), runner.plan({0, 1}).planned_peak_bytes);
  Runner packing(1);
  packing.add(kKey, inference_graph(model().ir(), kKey.batch, false));
  EXPECT_GT(runner.plan(kKey).constant_bytes,
            packing.plan(kKey).constant_bytes + 20 * 9 + 24 * 180 + 5 * 96);
}

}  // namespace
}  // namespace thimble::train::prepared_weights_test
