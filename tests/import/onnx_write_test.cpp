// ONNX files that thimble writes, read again. That onnxruntime runs them is tested with Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/export.h>
#include <thimble/import.h>
#include <thimble/quantize.h>
#include <thimble/thimble.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "harness/error_of.h"
#include "import/onnx/model.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::onnx_write_test {
namespace {

using testing::HasSubstr;
using Shapes = std::map<std::string, std::string>;

Shapes parameters(const Graph& graph) {
  Shapes made;
  for (const ir::ValueData& data : graph.ir().values) {
    if (data.role == ir::Role::parameter || data.role == ir::Role::state) {
      made[data.name] = to_string(data.type.shape);
    }
  }
  return made;
}

std::map<std::string, int> operators(const std::string& path) {
  std::map<std::string, int> counts;
  for (const auto& node : importer::onnx::read_model(path).graph.nodes) ++counts[node.op];
  return counts;
}

Graph with_weights(const TemporaryFolder& folder, const Graph& graph) {
  save_model(graph, folder / "m", 5);
  return load_model(folder / "m");
}

TEST(onnx_write, images_are_turned_at_the_border_alone) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {8, 8, 3});
  Value h = relu(batch_norm(conv2d(x, {.channels = 4, .kernel = 3, .padding = Padding::same()})));
  h = relu(conv2d(h, {.channels = 4, .kernel = 3, .padding = 1, .groups = 2}) + h);
  g.output("scores", dense(global_average_pool2d(max_pool2d(h)), {.units = 5}));
  const Graph graph = with_weights(folder, g);
  export_onnx(graph, folder / "m.onnx");
  auto counts = operators(folder / "m.onnx");
  EXPECT_EQ(counts["Conv"], 2);
  EXPECT_EQ(counts["BatchNormalization"], 1);
  EXPECT_EQ(counts["Transpose"], 1);
  const Graph again = import_onnx(folder / "m.onnx");
  EXPECT_EQ(parameters(again), parameters(graph));
  EXPECT_EQ(again.text().find("= transpose("), std::string::npos) << again.text();
}

TEST(onnx_write, tied_weights_are_one_initializer) {
  const TemporaryFolder folder;
  Graph g;
  const Value words = g.input("words", {4}, DType::i32);
  const Value table = g.parameter("table", {7, 6}, init::normal(0.0, 1.0));
  g.output("scores", dense(embedding(words, table), table, Value()));
  const Graph graph = with_weights(folder, g);
  export_onnx(graph, folder / "m.onnx");
  EXPECT_EQ(parameters(import_onnx(folder / "m.onnx")), (Shapes{{"table", "[7, 6]"}}));
}

TEST(onnx_write, recurrent_layers_are_one_node) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {5, 3});
  const LstmResult both = lstm(x, {.units = 4, .bidirectional = true});
  const LstmResult last = lstm(both.y, {.units = 2});
  g.output("cells", reshape(last.c, {-1, 2}));
  g.output("y", gru(last.y, {.units = 3}).y);
  const Graph graph = with_weights(folder, g);
  export_onnx(graph, folder / "m.onnx");
  auto counts = operators(folder / "m.onnx");
  EXPECT_EQ(counts["LSTM"], 3);
  EXPECT_EQ(counts["GRU"], 1);
  EXPECT_EQ(counts["MatMul"], 0);
}

std::map<std::string, Array> run(const Graph& graph, const Array& x) {
  return Predictor(graph, 2).run({{"x", x}});
}

TEST(onnx_write, axes_that_are_not_named_are_reversed) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {2, 3});
  g.output("y", reshape(transpose(x), {-1, 6}));
  g.output("z", transpose(transpose(x)));
  export_onnx(g, folder / "m.onnx");
  const Array in(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 2, 3});
  EXPECT_EQ(run(import_onnx(folder / "m.onnx"), in), run(g, in));
}

TEST(onnx_write, sums_of_truths_are_sums_of_int32) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {3});
  g.output("count", sum(gt(x, x * 0.0), {.axes = {1}}));
  g.output("share", mean(gt(x, x * 0.0), {.axes = {1}}));
  export_onnx(g, folder / "m.onnx");
  // The operators are of int32 and float32, not of bool or uint8.
  std::map<std::string, int64_t> types;
  for (const auto& node : importer::onnx::read_model(folder / "m.onnx").graph.nodes) {
    if (node.op == "Cast") types[node.outputs[0]] = node.attributes.at("to").integer;
    const int expected = node.op == "ReduceSum" ? 6 : node.op == "ReduceMean" ? 1 : 0;
    EXPECT_TRUE(expected == 0 || types[node.inputs[0]] == expected) << node.op;
  }
  const Array in(std::vector<float>{1, -2, 3, -4, -5, 0}, {2, 3});
  EXPECT_EQ(run(import_onnx(folder / "m.onnx"), in), run(g, in));
}

TEST(onnx_write, truths_keep_their_type_where_elements_move) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {2, 3}, DType::boolean);
  g.output("y", reshape(x, {-1, 6}));
  export_onnx(g, folder / "m.onnx");
  const importer::onnx::Model model = importer::onnx::read_model(folder / "m.onnx");
  ASSERT_EQ(model.graph.nodes.size(), 4U);  // to uint8, Reshape, back, Identity
  EXPECT_EQ(model.graph.nodes[2].op, "Cast");
  EXPECT_EQ(model.graph.nodes[2].attributes.at("to").integer, model.graph.outputs[0].type);
}

// A network of every op on int8 that is worth writing; images [8, 8, 2].
Graph float_network() {
  Graph g;
  const Value x = g.input("x", {8, 8, 2});
  Value h = relu(conv2d(x, {.channels = 4, .kernel = 3, .padding = 1}));
  h = h + relu6(conv2d(h, {.channels = 4, .kernel = 3, .padding = 1, .groups = 2}));
  h = pad(h, {.before = {0, 1, 0, 0}, .after = {0, 1, 2, 0}});
  h = max_pool2d(depthwise_conv2d(h, {.kernel = 3, .stride = 2, .padding = 1}));
  h = concat({h * sigmoid(h), tanh(h) - h}, {.axis = -1});
  const Value scores = dense(flatten(average_pool2d(h, {.kernel = 2})), {.units = 5});
  g.output("scores", softmax(dense(scores, {.units = 3})));
  g.output("means", mean(h, {.axes = {1, 2}}));
  return g;
}

TEST(onnx_write, int8_networks_are_rounded_layers_of_the_same_results) {
  const TemporaryFolder folder;
  save_model(float_network(), folder / "m.safetensors", 3);
  std::vector<float> pixels;
  for (int i = 0; i < 4 * 128; ++i) pixels.push_back(static_cast<float>(i * 53 % 199) / 100.0F);
  const Array images(std::move(pixels), {4, 8, 8, 2});
  const data::Dataset data = data::in_memory({{"x", {8, 8, 2}, DType::f32}}, {images});
  for (const bool int8 : {false, true}) {
    const Graph made = quantize_model(load_model(folder / "m.safetensors"), data,
                                      {.int8_inputs = int8, .int8_outputs = int8})
                           .graph;
    export_onnx(made, folder / "m.onnx");
    const Graph back = import_onnx(folder / "m.onnx");
    const Array x = int8 ? Array(std::vector<int8_t>(512, 3), {4, 8, 8, 2}) : images;
    const auto ours = Predictor(made, 4).run({{"x", x}});
    const auto theirs = Predictor(back, 4).run({{"x", x}});
    for (const auto& [name, y] : ours) {
      const std::vector<float> a = y.cast(DType::f32).floats();
      const std::vector<float> b = theirs.at(name).cast(DType::f32).floats();
      EXPECT_EQ(a, b) << name << int8;
    }
    // Read back, it trains and is the same network on int8 again.
    if (int8) continue;
    const Graph again = quantize_model(back, data).graph;
    EXPECT_EQ(Predictor(again, 4).run({{"x", x}}), ours);
  }
}

TEST(onnx_write, draws_are_those_of_the_reader) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {2000});
  g.output("y", x + random_normal(x, {.mean = 3.0, .stddev = 2.0}) +
                    random_uniform(g, {kBatch, 1}, {.low = 5.0, .high = 5.0}));
  export_onnx(g, folder / "m.onnx");
  auto counts = operators(folder / "m.onnx");
  EXPECT_EQ(counts["RandomNormalLike"], 1);
  EXPECT_EQ(counts["RandomUniformLike"], 1);
  const Graph again = import_onnx(folder / "m.onnx");
  const Array drawn = run(again, Array(DType::f32, {2, 2000})).at("y");
  double sum = 0.0;
  double squares = 0.0;
  for (const float y : drawn.floats()) {
    sum += y;
    squares += (y - 8.0) * (y - 8.0);
  }
  EXPECT_NEAR(sum / 4000.0, 8.0, 0.2);
  EXPECT_NEAR(squares / 4000.0, 4.0, 0.5);
}

TEST(onnx_write, rounding_for_training_stays_where_it_is) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = fake_quantize(g.input("x", {8}), g.constant("step", {1}, {0.05F}));
  g.output("y", dense(x, {.units = 3}));
  Graph graph = with_weights(folder, g);
  export_onnx(graph, folder / "m.onnx");
  auto counts = operators(folder / "m.onnx");
  EXPECT_EQ(counts["QuantizeLinear"], 1);
  EXPECT_EQ(counts["DequantizeLinear"], 1);
  std::vector<float> values;
  for (int i = 0; i < 16; ++i) values.push_back(std::sin(static_cast<float>(i)) * 8.0F);
  const Array in(values, {2, 8});
  EXPECT_EQ(run(import_onnx(folder / "m.onnx"), in), run(graph, in));
}

TEST(onnx_write, what_has_no_operator_is_named_and_nothing_is_written) {
  const TemporaryFolder folder;
  const auto error = [&](Graph g) {
    const Graph graph = with_weights(folder, g);
    return error_of([&] { export_onnx(graph, folder / "m.onnx"); });
  };
  Graph unknown;
  const Value x = unknown.input("x", {2});
  unknown.output("y", atan2(x, x));
  EXPECT_THAT(error(std::move(unknown)), HasSubstr("the op atan2"));
  Graph none;
  static_cast<void>(none.input("x", {2}));
  EXPECT_THAT(error_of([&] { export_onnx(none, folder / "m.onnx"); }), HasSubstr("no output"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m.onnx"));
}

}  // namespace
}  // namespace thimble::test::onnx_write_test
