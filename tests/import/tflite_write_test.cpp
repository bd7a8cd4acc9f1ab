// Files that thimble writes, read again. That LiteRT runs them is tested with Python.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/export.h>
#include <thimble/import.h>
#include <thimble/thimble.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "harness/error_of.h"
#include "import/tflite/reader.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"
#include "tflite_models.h"

namespace thimble::test::tflite_write_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr double kRelative = 1e-5;
constexpr double kAbsolute = 2e-6;

using Arrays = std::map<std::string, Array>;

// Numbers for every input of a graph, for so many samples.
Arrays inputs_of(const Graph& graph, int64_t count) {
  std::mt19937 random(7);
  Arrays made;
  for (const ir::ValueData& data : graph.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::input) continue;
    std::vector<int64_t> sizes = data.type.shape.dims();
    sizes[0] = count;
    const Shape shape(sizes);
    std::vector<float> values(static_cast<size_t>(shape.elements()));
    for (float& value : values) {
      const auto drawn = static_cast<int>(random() % 256U) - 128;
      value = data.type.dtype == DType::f32  ? static_cast<float>(std::abs(drawn) + 1) / 32.0F
              : data.type.dtype == DType::i8 ? static_cast<float>(drawn)
                                             : static_cast<float>(std::abs(drawn) % 3);
    }
    made.emplace(*data.name, Array(std::move(values), shape).cast(data.type.dtype));
  }
  return made;
}

void expect_equal(const Arrays& got, const Arrays& wanted, const std::string& name) {
  ASSERT_EQ(got.size(), wanted.size()) << name;
  for (const auto& [output, array] : wanted) {
    const Array& other = got.at(output);
    ASSERT_EQ(other.shape(), array.shape()) << name;
    ASSERT_EQ(other.dtype(), array.dtype()) << name;
    if (array.dtype() != DType::f32) {
      EXPECT_EQ(other, array) << name;
      continue;
    }
    const auto a = other.as<float>();
    const auto b = array.as<float>();
    for (size_t i = 0; i < a.size(); ++i) {
      const auto value = static_cast<double>(b[i]);
      EXPECT_NEAR(static_cast<double>(a[i]), value, kAbsolute + kRelative * std::abs(value))
          << name << " at " << i;
    }
  }
}

// Writes the graph, reads it again and compares what both compute.
void expect_round_trip(const Graph& graph, const std::string& path, const std::string& name) {
  export_tflite(graph, path);
  const Graph again = import_tflite(path);
  const Arrays inputs = inputs_of(graph, 2);
  expect_equal(Predictor(again, 2).run(inputs), Predictor(graph, 2).run(inputs), name);
}

TEST(tflite_write, operators_come_back_as_they_were) {
  const TemporaryFolder folder;
  std::set<std::string> refused;
  int written = 0;
  for (const json& model : tflite_models()) {
    const std::string name = model["name"];
    const tflite::File file =
        tflite::File::parse(name, from_base64(model["model"].get<std::string>()));
    const Graph graph = tflite::read_network(file).graph;
    const std::string error =
        error_of([&] { expect_round_trip(graph, folder / "m.tflite", name); });
    if (error == kNoError) {
      ++written;
    } else {
      EXPECT_THAT(error, HasSubstr("m.tflite")) << name;
      refused.insert(name);
    }
  }
  EXPECT_EQ(refused, (std::set<std::string>{}));
  EXPECT_EQ(written, 103);
}

// A model with random weights.
template <class Build>
Graph initialised(const TemporaryFolder& folder, const Build& build) {
  Graph g;
  build(g);
  save_model(g, folder / "m.safetensors", 3);
  return load_model(folder / "m.safetensors");
}

TEST(tflite_write, layers_come_back_as_they_were) {
  const TemporaryFolder folder;
  const auto test = [&](const char* name, const auto& build) {
    expect_round_trip(initialised(folder, build), folder / "m.circle", name);
  };
  test("explicit padding", [](Graph& g) {
    const Value x = g.input("x", {7, 6, 2});
    g.output("y", relu(conv2d(x, {.channels = 3, .kernel = 3, .stride = 2, .padding = 1})));
  });
  test("batch norm and dropout", [](Graph& g) {
    const Value x = g.input("x", {4, 4, 3});
    g.output("y", dropout(relu6(batch_norm(depthwise_conv2d(x, {.kernel = 3, .padding = 1}))),
                          {.p = 0.5}));
  });
  test("padded pools", [](Graph& g) {
    const Value x = relu(g.input("x", {5, 5, 2}));
    g.output("max", max_pool2d(x, {.kernel = 3, .stride = 2, .padding = 1}));
    g.output("counted", average_pool2d(x, {.kernel = 3, .stride = 2, .padding = 1}));
    g.output("ceil", max_pool2d(x, {.kernel = 2, .stride = 2, .ceil_mode = true}));
    g.output("global", global_average_pool2d(x));
  });
  test("transposed", [](Graph& g) {
    const Value x = g.input("x", {3, 3, 2});
    g.output("y", conv_transpose2d(x, {.channels = 3, .kernel = 2, .stride = 2}));
  });
  test("dense of rows", [](Graph& g) {
    const Value x = g.input("x", {3, 4});
    g.output("y", tanh(dense(layer_norm(x, LayerNormOptions{}), {.units = 5})));
    g.output("z", rms_norm(x, RmsNormOptions{}));
  });
  test("norms of groups and of images", [](Graph& g) {
    const Value x = g.input("x", {3, 5, 6});
    g.output("groups", group_norm(x, {.groups = 3}));
    g.output("plain", group_norm(x, Value(), Value(), {.groups = 2}));
    g.output("images", instance_norm(x, InstanceNormOptions{.affine = true}));
    g.output("rows", instance_norm(g.input("rows", {4, 3}), InstanceNormOptions{}));
  });
  test("rotary positions and shared keys", [](Graph& g) {
    const Value x = g.input("x", {5, 8});
    const Value q = reshape(dense(x, {.units = 16}), {-1, 5, 4, 4});
    const Value k = reshape(dense(x, {.units = 8}), {-1, 5, 2, 4});
    g.output("y", scaled_dot_product_attention(rotary_embedding(q), rotary_embedding(k), k,
                                               {.causal = true}));
    g.output("z", rotary_embedding(x, {.interleaved = true, .width = 4}));
  });
  test("embedding and parts", [](Graph& g) {
    const Value words = g.input("words", {4}, DType::i32);
    const Value x = embedding(words, {.embeddings = 5, .width = 6});
    const std::vector<Value> parts = split(x, 2);
    g.output("y", concat({parts[1], swish(parts[0])}));
    g.output("z", slice(x, -1, -1, 0, -2));
    g.output("t", transpose(x, {0, 2, 1}));
  });
  test("attention", [](Graph& g) {
    const Value q = g.input("q", {4, 3});
    g.output("y", matmul(softmax(matmul(q, q, {.transpose_b = true}) * 0.5), q));
  });
  test("attention of heads", [](Graph& g) {
    const Value q = g.input("q", {4, 2, 3});
    const Value mask = g.constant("mask", Array(std::vector<uint8_t>{1, 0, 1, 1}, {1, 1, 1, 4}));
    g.output("y", scaled_dot_product_attention(q, q * 2.0, q, {.causal = true}));
    g.output("z", scaled_dot_product_attention(q, q, q, mask, {.scale = 0.3}));
  });
}

TEST(tflite_write, int8_networks_keep_their_bits) {
  const TemporaryFolder folder;
  const Graph graph = initialised(folder, [](Graph& g) {
    Value x = g.input("x", {8, 8, 2});
    Value h = relu(conv2d(x, {.channels = 4, .kernel = 3, .padding = 1}));
    h = h + relu(conv2d(h, {.channels = 4, .kernel = 3, .padding = 1}));
    h = max_pool2d(depthwise_conv2d(h, {.kernel = 3, .stride = 2, .padding = 1}));
    g.output("scores", softmax(dense(flatten(h), {.units = 3})));
  });
  std::vector<float> pixels;
  std::mt19937 random(1);
  for (int i = 0; i < 64 * 128; ++i) pixels.push_back(static_cast<float>(random() % 200U) / 100.0F);
  const data::Dataset samples =
      data::in_memory({{"x", {8, 8, 2}, DType::f32}}, {Array(std::move(pixels))});
  for (const bool int8 : {false, true}) {
    const Graph quantized = quantize_model(graph, samples,
                                           {.requantization = Requantization::fixed_point,
                                            .int8_inputs = int8,
                                            .int8_outputs = int8})
                                .graph;
    expect_round_trip(quantized, folder / "m.tflite", int8 ? "int8" : "int8 within f32");
  }
}

TEST(tflite_write, ops_without_operator_are_named) {
  const TemporaryFolder folder;
  const auto error = [&](const auto& build) {
    const Graph graph = initialised(folder, build);
    return error_of([&] { export_tflite(graph, folder / "m.tflite"); });
  };
  EXPECT_THAT(error([](Graph& g) { g.output("y", erf(g.input("x", {2}))); }),
              HasSubstr("the op erf"));
  EXPECT_THAT(error([](Graph& g) {
                g.output("y", softmax(g.input("x", {2, 3}), {.axis = 1}));
              }),
              HasSubstr("over the last dimension"));
  EXPECT_THAT(error([](Graph& g) { g.minimize(mean(square(g.input("x", {2})))); }),
              HasSubstr("no output"));
  Graph without;
  without.output("y", dense(without.input("x", {2}), {.units = 1}));
  EXPECT_THAT(error_of([&] { export_tflite(without, folder / "m.tflite"); }),
              HasSubstr("has no values"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m.tflite"));
}

}  // namespace
}  // namespace thimble::test::tflite_write_test
