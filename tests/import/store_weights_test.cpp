// Weights that are stored in a narrow type, and mapped from a model file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/adapt.h>
#include <thimble/lora.h>
#include <thimble/ops.h>
#include <thimble/thimble.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::store_weights_test {
namespace {

using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr int64_t kTokens = 5;

// A table that is also the last layer's, a layer [in, out] and one [out, in] whose rows have two
// groups of 64.
Graph network() {
  Graph g;
  const Value ids = g.input("ids", {kTokens}, DType::i32);
  const Value table = g.parameter("table.weight", {11, 6}, init::zeros());
  const Value w = g.parameter("up.weight", {6, 128}, init::zeros());
  const Value h = tanh(matmul(embedding(ids, table), w));
  const Value y = dense(h, {.units = 6, .name = "down"});
  g.output("logits", dense(y, table, Value(), "head"));
  int number = 0;
  for (ir::ValueData& data : g.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    std::vector<float> values;
    ++number;
    for (int64_t i = 0; i < data.type.shape.elements(); ++i) {
      values.push_back(
          static_cast<float>(0.4 * std::sin(0.37 * static_cast<double>(i * number + 1))));
    }
    data.data = Array(std::move(values), data.type.shape);
  }
  return g;
}

Array ids() { return Array(std::vector<int32_t>{1, 0, 10, 3, 3, 7, 2, 9, 4, 5}, {2, kTokens}); }

std::vector<float> run(const Graph& g) {
  return Predictor(g, 2).run({{"ids", ids()}}).at("logits").floats();
}

DType type_of(const Graph& g, const std::string& name) {
  for (const ir::ValueData& data : g.ir().values) {
    if (data.producer < 0 && *data.name == name) return data.type.dtype;
  }
  throw Error(name, "there is no such source");
}

Graph tuned(DType base) {
  return add_lora(adapt(store_weights(network(), base), {.loss = "softmax_cross_entropy"}),
                  {.rank = 2, .alpha = 4.0, .targets = {"up", "down"}});
}

data::Dataset samples() {
  return data::in_memory({{"ids", {kTokens}, DType::i32}, {"label", {kTokens}, DType::i32}},
                         {ids(), ids()});
}

TEST(store_weights, rounds_weights_and_nothing_else) {
  const std::vector<float> exact = run(network());
  // What rounding to so many bits changes in sums of some hundred products.
  for (const auto& [dtype, tolerance] :
       {std::pair(DType::bf16, 0.03F), std::pair(DType::f16, 4e-3F), std::pair(DType::i8, 0.03F),
        std::pair(DType::i4, 0.3F)}) {
    const Graph g = store_weights(network(), dtype);
    EXPECT_THAT(run(g), Pointwise(FloatNear(tolerance), exact)) << to_string(dtype);
    EXPECT_EQ(type_of(g, "up.weight"), dtype);
    EXPECT_EQ(type_of(g, "down.weight"), dtype);
    EXPECT_EQ(type_of(g, "down.bias"), DType::f32);
    EXPECT_EQ(type_of(g, "table.weight"), is_floating(dtype) ? dtype : DType::bf16);
  }
  EXPECT_THAT(error_of([] { static_cast<void>(store_weights(network(), DType::f64)); }),
              HasSubstr("expected bf16, f16, i8 or i4"));
  EXPECT_THAT(error_of([] {
                static_cast<void>(store_weights(store_weights(network(), DType::i8), DType::i8));
              }),
              HasSubstr("no weights"));
}

// bf16 is exact where the weights are bf16 already.
TEST(store_weights, has_the_steps_of_f32_weights_of_the_same_numbers) {
  Graph rounded = network();
  for (ir::ValueData& data : rounded.ir().values) {
    if (data.producer < 0 && data.role == ir::Role::parameter && data.type.shape.rank() == 2) {
      data.data = data.data->cast(DType::bf16).cast(DType::f32);
    }
  }
  const Graph plain = add_lora(adapt(rounded, {.loss = "softmax_cross_entropy"}),
                               {.rank = 2, .alpha = 4.0, .targets = {"up", "down"}});
  Trainer expected(plain, {.optimizer = SGD{.lr = 0.5}, .batch = 2, .seed = 3});
  Trainer trainer(tuned(DType::bf16), {.optimizer = SGD{.lr = 0.5}, .batch = 2, .seed = 3});
  for (int step = 0; step < 4; ++step) {
    EXPECT_NEAR(trainer.step(samples()).loss, expected.step(samples()).loss, 2e-6);
  }
}

TEST(store_weights, maps_weights_from_a_model_file) {
  const TemporaryFolder folder;
  for (const DType base : {DType::bf16, DType::f16, DType::i8, DType::i4}) {
    SCOPED_TRACE(to_string(base));
    save_model(tuned(base), folder / "m", 3);
    const TrainerOptions options{.optimizer = SGD{.lr = 0.5}, .batch = 2, .seed = 3};
    Trainer in_memory(load_model(folder / "m"), options);
    Trainer mapped(load_graph(folder / "m"), options);
    mapped.load_weights(folder / "m");
    EXPECT_EQ(mapped.weights_sha256(), in_memory.weights_sha256());
    for (int step = 0; step < 3; ++step) {
      EXPECT_EQ(mapped.step(samples()).loss, in_memory.step(samples()).loss);
    }
    const int64_t narrow = 11 * 6 + 6 * 128 + 128 * 6;
    const Plan plan = mapped.plan();
    if (base != DType::i4) {
      EXPECT_LE(plan.parameter_bytes, 4 * (plan.parameters - narrow));
      EXPECT_THAT(
          error_of([&] { mapped.set_parameter("up.weight", mapped.parameter("up.weight")); }),
          HasSubstr("mapped read-only"));
    }
    mapped.save(folder / "c");
    Trainer resumed(load_graph(folder / "m"), options);
    resumed.resume(folder / "c");
    EXPECT_EQ(resumed.weights_sha256(), mapped.weights_sha256());
    EXPECT_EQ(resumed.step(samples()).loss, mapped.step(samples()).loss);
    EXPECT_EQ(run(load_model(folder / "c")),
              Predictor(folder / "c", 2).run({{"ids", ids()}}).at("logits").floats());
  }
}

TEST(store_weights, merges_adapters_into_16_bit_weights) {
  Graph g = tuned(DType::bf16);
  Trainer trainer(g, {.optimizer = SGD{.lr = 0.5}, .batch = 2});
  for (int step = 0; step < 5; ++step) static_cast<void>(trainer.step(samples()));
  const TemporaryFolder folder;
  trainer.save_model(folder / "m");
  const Graph model = load_model(folder / "m");
  EXPECT_THAT(run(merge_lora(model)), Pointwise(FloatNear(0.05F), run(model)));
  save_model(tuned(DType::i8), folder / "i8");
  EXPECT_THAT(error_of([&] { static_cast<void>(merge_lora(load_model(folder / "i8"))); }),
              HasSubstr("floating-point weights"));
}

}  // namespace
}  // namespace thimble::test::store_weights_test
