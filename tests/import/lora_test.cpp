// Adapters beside frozen weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/lora.h>
#include <thimble/ops.h>
#include <thimble/thimble.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/error_of.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::lora_test {
namespace {

using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr int64_t kRows = 3;

std::vector<float> wave(int64_t count, double step) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(0.5 * std::sin(step * static_cast<double>(i + 1))));
  }
  return values;
}

ir::ValueData& source(Graph& graph, const std::string& name) {
  for (ir::ValueData& data : graph.ir().values) {
    if (data.producer < 0 && *data.name == name) return data;
  }
  throw Error(name, "there is no such source");
}

void set(Graph& graph, const std::string& name, double step) {
  ir::ValueData& data = source(graph, name);
  data.data = Array(wave(data.type.shape.elements(), step), data.type.shape);
}

// Two layers, of which one has its weight [in, out].
Graph network() {
  Graph g;
  const Value x = g.input("x", {4});
  const Value h = tanh(dense(x, {.units = 5, .name = "block.up"}));
  const Value w = g.parameter("block.down.weight", {5, 3}, init::zeros());
  const Value y = matmul(h, w);
  g.output("y", y);
  g.minimize(mse(y, g.label("t", {3}, DType::f32)));
  set(g, "block.up.weight", 0.7);
  set(g, "block.up.bias", 1.3);
  set(g, "block.down.weight", 2.1);
  return g;
}

Graph adapted() {
  return add_lora(network(), {.rank = 2, .alpha = 6.0, .targets = {"up", "down"}});
}

// With adapters that add something.
Graph filled() {
  Graph g = adapted();
  double step = 0.3;
  for (const char* const layer : {"block.up", "block.down"}) {
    set(g, std::string(layer) + ".lora_A.weight", step += 0.4);
    set(g, std::string(layer) + ".lora_B.weight", step += 0.4);
  }
  return g;
}

// With a lora_B of zeros.
Graph drawn() {
  Graph g = filled();
  for (const char* const layer : {"block.up", "block.down"}) {
    ir::ValueData& up = source(g, std::string(layer) + ".lora_B.weight");
    up.data = Array(DType::f32, up.type.shape);
  }
  return g;
}

data::Dataset samples() {
  return data::in_memory(
      {{"x", {4}, DType::f32}, {"t", {3}, DType::f32}},
      {Array(wave(kRows * 4, 0.9), {kRows, 4}), Array(wave(kRows * 3, 0.4), {kRows, 3})});
}

std::vector<float> run(const Graph& g) {
  return Predictor(g, kRows).run({{"x", Array(wave(kRows * 4, 0.9), {kRows, 4})}}).at("y").floats();
}

TEST(lora, adds_nothing_at_first_and_freezes_the_rest) {
  EXPECT_EQ(run(drawn()), run(network()));
  const Graph g = adapted();
  Trainer trainer(g, {.batch = kRows, .seed = 4});
  const auto gradients = trainer.gradients(samples()).values;
  ASSERT_EQ(gradients.size(), 4U);
  for (const auto& [name, gradient] : gradients) EXPECT_THAT(name, HasSubstr(".lora_"));
  const Array before = trainer.parameter("block.up.weight");
  const double first = trainer.step(samples()).loss;
  for (int i = 0; i < 50; ++i) static_cast<void>(trainer.step(samples()));
  EXPECT_LT(trainer.step(samples()).loss, first);
  EXPECT_EQ(trainer.parameter("block.up.weight"), before);
}

// The loss in double precision: x W1 + adapter, tanh, W2 + adapter, mean square.
struct Model {
  std::map<std::string, std::vector<double>> values;
  [[nodiscard]] double loss() const {
    const auto at = [this](const std::string& name) -> const std::vector<double>& {
      return values.at(name);
    };
    const auto product = [&](const std::vector<double>& x, size_t in, size_t out,
                             const std::string& layer, bool in_out) {
      std::vector<double> y(kRows * out);
      const auto& w = at(layer + ".weight");
      const auto& a = at(layer + ".lora_A.weight");
      const auto& b = at(layer + ".lora_B.weight");
      for (size_t n = 0; n < kRows; ++n) {
        for (size_t o = 0; o < out; ++o) {
          double sum = 0.0;
          for (size_t i = 0; i < in; ++i) {
            double weight = w[in_out ? i * out + o : o * in + i];
            for (size_t r = 0; r < 2; ++r) weight += 3.0 * b[o * 2 + r] * a[r * in + i];
            sum += weight * x[n * in + i];
          }
          y[n * out + o] = sum;
        }
      }
      return y;
    };
    std::vector<double> h = product(at("x"), 4, 5, "block.up", false);
    for (size_t i = 0; i < h.size(); ++i) h[i] = std::tanh(h[i] + at("block.up.bias")[i % 5]);
    const std::vector<double> y = product(h, 5, 3, "block.down", true);
    double sum = 0.0;
    for (size_t i = 0; i < y.size(); ++i) sum += (y[i] - at("t")[i]) * (y[i] - at("t")[i]);
    return sum / static_cast<double>(y.size());
  }
};

TEST(lora, has_the_gradients_of_finite_differences) {
  Graph g = filled();
  Model model;
  for (const ir::ValueData& data : g.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    const std::vector<float> values = data.data->floats();
    model.values[data.name] = {values.begin(), values.end()};
  }
  const std::vector<float> x = wave(kRows * 4, 0.9);
  const std::vector<float> t = wave(kRows * 3, 0.4);
  model.values["x"] = {x.begin(), x.end()};
  model.values["t"] = {t.begin(), t.end()};
  Trainer trainer(g, {.batch = kRows});
  const auto gradients = trainer.gradients(samples()).values;
  for (const auto& [name, gradient] : gradients) {
    const std::vector<float> found = gradient.floats();
    std::vector<double>& values = model.values.at(name);
    for (size_t i = 0; i < values.size(); ++i) {
      const double kept = values[i];
      constexpr double kStep = 1e-5;
      values[i] = kept + kStep;
      const double above = model.loss();
      values[i] = kept - kStep;
      const double below = model.loss();
      values[i] = kept;
      // The rounding of f32 in sums of a few terms of about 1.
      EXPECT_NEAR(static_cast<double>(found[i]), (above - below) / (2 * kStep), 2e-6) << name << i;
    }
  }
}

TEST(lora, is_merged_into_the_weights) {
  const Graph g = filled();
  const Graph plain = merge_lora(g);
  EXPECT_EQ(plain.text().find("lora"), std::string::npos);
  EXPECT_EQ(plain.ir().nodes.size(), network().ir().nodes.size());
  EXPECT_THAT(run(plain), Pointwise(FloatNear(1e-6F), run(g)));
  EXPECT_THAT(run(plain), testing::Not(Pointwise(FloatNear(1e-3F), run(network()))));
  EXPECT_THAT(error_of([&] { static_cast<void>(merge_lora(plain)); }), HasSubstr("no adapters"));
  EXPECT_THAT(error_of([] { static_cast<void>(merge_lora(adapted())); }), HasSubstr("no values"));
}

TEST(lora, comes_back_from_the_files_of_peft) {
  const TemporaryFolder folder;
  const Graph g = filled();
  save_lora(g, folder / "adapter");
  const Graph again = load_lora(network(), folder / "adapter");
  EXPECT_EQ(again.text(), g.text());
  EXPECT_EQ(run(again), run(g));
  const io::Safetensors file = io::Safetensors::read(folder / "adapter/adapter_model.safetensors");
  EXPECT_NE(file.find("base_model.model.block.up.lora_A.weight"), nullptr);
  nlohmann::json config;
  std::ifstream(folder / "adapter/adapter_config.json") >> config;
  EXPECT_EQ(config["r"], 2);
  EXPECT_DOUBLE_EQ(config["lora_alpha"].get<double>(), 6.0);
  const auto error_with = [&](const char* field, const nlohmann::json& value) {
    nlohmann::json other = config;
    other[field] = value;
    std::ofstream(folder / "adapter/adapter_config.json") << other;
    return error_of([&] { static_cast<void>(load_lora(network(), folder / "adapter")); });
  };
  EXPECT_THAT(error_with("use_dora", true), HasSubstr("use_dora"));
  EXPECT_THAT(error_with("bias", "all"), HasSubstr("bias"));
  EXPECT_THAT(error_with("r", 3), HasSubstr("expected a tensor"));
  EXPECT_THAT(error_with("peft_type", "IA3"), HasSubstr("LORA"));
  EXPECT_EQ(error_with("use_rslora", true), kNoError);
  // Half an adapter.
  const Array half(std::vector<float>(8), {2, 4});
  const io::TensorView views[] = {{.name = "base_model.model.block.up.lora_A.weight",
                                   .dtype = DType::f32,
                                   .shape = half.shape(),
                                   .bytes = half.bytes()}};
  io::write_safetensors(folder / "adapter/adapter_model.safetensors", views, {});
  EXPECT_THAT(error_with("r", 2), HasSubstr("block.up.lora_A.weight belongs to no adapter"));
}

TEST(lora, survives_a_model_file) {
  const TemporaryFolder folder;
  const Graph g = filled();
  save_model(g, folder / "m");
  EXPECT_EQ(run(load_model(folder / "m")), run(g));
  EXPECT_THAT(run(merge_lora(load_model(folder / "m"))), Pointwise(FloatNear(1e-6F), run(g)));
}

TEST(lora, refuses_what_it_cannot_do) {
  const auto error = [](const LoraOptions& options) {
    return error_of([&] { static_cast<void>(add_lora(network(), options)); });
  };
  EXPECT_THAT(error({.targets = {"q_proj"}}), HasSubstr("are called down, up"));
  EXPECT_THAT(error({.targets = {}}), HasSubstr("name the layers"));
  EXPECT_THAT(error({.rank = 0, .targets = {"up"}}), HasSubstr("rank"));
  EXPECT_THAT(error({.alpha = 0.0, .targets = {"up"}}), HasSubstr("alpha"));
  EXPECT_EQ(error({.targets = {"block.*"}}), kNoError);
  EXPECT_THAT(error_of([] { static_cast<void>(add_lora(adapted(), {.targets = {"up"}})); }),
              HasSubstr("merge them first"));
  Graph g;
  const Value x = g.input("x", {4});
  const Value w = g.parameter("l.weight", {2, 4}, init::zeros());
  g.output("y", matmul(x, w, {.transpose_b = true, .activation = Activation::relu}));
  EXPECT_THAT(error_of([&] { static_cast<void>(add_lora(g, {.targets = {"l"}})); }),
              HasSubstr("an op of its own"));
  Graph of_int8;
  const Value q = of_int8.input("x", {2}, DType::i8, {.scales = {0.5F}});
  const Value weight = of_int8.parameter("l.weight", {3, 2}, init::constant(4), DType::i8,
                                         {.scales = {0.5F, 0.25F, 1.0F}, .axis = 0});
  of_int8.output("y", quantized_dense(q, weight, {}, {.scale = 0.5}));
  EXPECT_THAT(error_of([&] { static_cast<void>(add_lora(of_int8, {.targets = {"l"}})); }),
              HasSubstr("no layer \"l\" that an adapter could stand beside; this model has none"));
}

}  // namespace
}  // namespace thimble::test::lora_test
