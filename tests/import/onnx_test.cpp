// ONNX models as graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "harness/error_of.h"
#include "import/onnx/onnx.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"
#include "onnx_files.h"

namespace thimble::test::onnx_test {
namespace {

using importer::onnx::graph_of;
using importer::onnx::parse_model;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

Graph imported(const OnnxFile& file, const OnnxOptions& options = {}) {
  return graph_of("m.onnx", parse_model("m.onnx", file.bytes(), false), options);
}

std::string error_of_import(const OnnxFile& file, const OnnxOptions& options = {}) {
  return error_of([&] { static_cast<void>(imported(file, options)); });
}

int count(const Graph& graph, const std::string& op) {
  return static_cast<int>(std::count_if(graph.ir().nodes.begin(), graph.ir().nodes.end(),
                                        [&](const ir::Node& node) { return op == node.op->name; }));
}

const ir::ValueData& source(const Graph& graph, const std::string& name) {
  for (const ir::ValueData& data : graph.ir().values) {
    if (data.producer < 0 && *data.name == name) return data;
  }
  throw Error(name, "there is no such source");
}

std::vector<float> counted(int64_t count, float step = 1.0F) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = step * (static_cast<float>(i % 7) - 3.0F);
  }
  return values;
}

std::vector<float> run(const Graph& graph, const std::map<std::string, Array>& inputs,
                       const std::string& output = "y") {
  return Predictor(graph, 2).run(inputs).at(output).floats();
}

// Conv, BatchNormalization, Relu, pooling, Flatten and Gemm for images [N, 2, 4, 4].
OnnxFile network(int64_t batch = -1) {
  OnnxFile file;
  file.input("x", {batch, 2, 4, 4}).output("y");
  file.floats("conv.weight", {3, 2, 3, 3}, counted(54, 0.1F));
  file.floats("conv.bias", {3}, {0.1F, 0.2F, 0.3F});
  set_integers(file.node("Conv", {"x", "conv.weight", "conv.bias"}, "c"), "pads", {1, 1, 1, 1});
  file.floats("bn.weight", {3}, {1.0F, 2.0F, 0.5F}).floats("bn.bias", {3}, {0.0F, 0.1F, 0.2F});
  file.floats("bn.mean", {3}, {0.1F, 0.0F, -0.1F}).floats("bn.var", {3}, {1.0F, 4.0F, 0.5F});
  file.node("BatchNormalization", {"c", "bn.weight", "bn.bias", "bn.mean", "bn.var"}, "b");
  file.node("Relu", {"b"}, "r");
  auto& pool = file.node("MaxPool", {"r"}, "p");
  set_integers(pool, "kernel_shape", {2, 2});
  set_integers(pool, "strides", {2, 2});
  file.node("Flatten", {"p"}, "f");
  file.floats("fc.weight", {5, 12}, counted(60, 0.2F)).floats("fc.bias", {5}, counted(5));
  set_integer(file.node("Gemm", {"f", "fc.weight", "fc.bias"}, "y"), "transB", 1);
  return file;
}

// The same, computed as ONNX describes it.
std::vector<float> expected(const std::vector<float>& x, int64_t images) {
  const std::vector<float> w = counted(54, 0.1F);
  const std::vector<float> fc = counted(60, 0.2F);
  const std::vector<float> fc_bias = counted(5);
  const float bias[] = {0.1F, 0.2F, 0.3F};
  const float gamma[] = {1.0F, 2.0F, 0.5F};
  const float beta[] = {0.0F, 0.1F, 0.2F};
  const float mean[] = {0.1F, 0.0F, -0.1F};
  const float variance[] = {1.0F, 4.0F, 0.5F};
  std::vector<float> result;
  for (int64_t n = 0; n < images; ++n) {
    float pooled[12];
    std::fill(std::begin(pooled), std::end(pooled), 0.0F);
    for (int k = 0; k < 3; ++k) {
      for (int p = 0; p < 16; ++p) {
        float sum = bias[k];
        for (int c = 0; c < 2; ++c) {
          for (int t = 0; t < 9; ++t) {
            const int row = p / 4 + t / 3 - 1;
            const int column = p % 4 + t % 3 - 1;
            if (row < 0 || row > 3 || column < 0 || column > 3) continue;
            sum += w[static_cast<size_t>((k * 2 + c) * 9 + t)] *
                   x[static_cast<size_t>(((n * 2 + c) * 4 + row) * 4 + column)];
          }
        }
        const float y = (sum - mean[k]) / std::sqrt(variance[k] + 1e-5F) * gamma[k] + beta[k];
        float& most = pooled[k * 4 + p / 8 * 2 + p % 4 / 2];
        most = std::max(most, y);  // after Relu: at least 0
      }
    }
    for (int u = 0; u < 5; ++u) {
      float sum = fc_bias[static_cast<size_t>(u)];
      for (int i = 0; i < 12; ++i) sum += fc[static_cast<size_t>(u * 12 + i)] * pooled[i];
      result.push_back(sum);
    }
  }
  return result;
}

// [N, C, H, W] as [N, H, W, C].
std::vector<float> channels_last(const std::vector<float>& x, int64_t images, int64_t channels,
                                 int64_t pixels) {
  std::vector<float> made;
  for (int64_t n = 0; n < images; ++n) {
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        made.push_back(x[static_cast<size_t>((n * channels + c) * pixels + p)]);
      }
    }
  }
  return made;
}

constexpr float kTolerance = 1e-4F;  // sums of some dozen products of numbers below 10

TEST(onnx, images_are_channels_last_without_any_transpose) {
  const Graph graph = imported(network());
  EXPECT_EQ(count(graph, "transpose"), 0) << graph.text();
  EXPECT_EQ(source(graph, "x").type.shape, (Shape{kBatch, 4, 4, 2}));
  EXPECT_EQ(source(graph, "conv.weight").type.shape, (Shape{3, 3, 3, 2}));
  EXPECT_EQ(source(graph, "bn.mean").role, ir::Role::state);
  EXPECT_EQ(count(graph, "batch_norm"), 1);
  const std::vector<float> x = counted(3 * 32, 0.3F);
  const Array images(channels_last(x, 3, 2, 16), {3, 4, 4, 2});
  EXPECT_THAT(run(graph, {{"x", images}}), Pointwise(FloatNear(kTolerance), expected(x, 3)));
}

TEST(onnx, images_keep_their_layout_when_asked) {
  const Graph graph = imported(network(), {.dims = {}, .keep_layout = true});
  EXPECT_EQ(source(graph, "x").type.shape, (Shape{kBatch, 2, 4, 4}));
  const std::vector<float> x = counted(3 * 32, 0.3F);
  EXPECT_THAT(run(graph, {{"x", Array(x, {3, 2, 4, 4})}}),
              Pointwise(FloatNear(kTolerance), expected(x, 3)));
}

TEST(onnx, a_batch_of_one_in_the_file_becomes_open) {
  OnnxFile file = network(1);
  file.integers("shape", {1, 5}).output("z");
  file.node("Reshape", {"y", "shape"}, "z");
  const Graph graph = imported(file);
  EXPECT_EQ(graph.ir().type(graph.ir().outputs[1].second).shape, (Shape{kBatch, 5}));
}

TEST(onnx, group_normalization_of_a_reshaped_image_moves_nothing) {
  // As PyTorch writes it: Reshape to [N, groups, -1], InstanceNormalization, Reshape back.
  OnnxFile file;
  file.input("x", {-1, 4, 2, 3}).output("y");
  file.integers("grouped", {0, 2, -1}).floats("one", {2}, {1, 1}).floats("zero", {2}, {0, 0});
  file.floats("w", {4, 1, 1, 1}, {1, 1, 1, 1});
  set_integer(file.node("Conv", {"x", "w"}, "c"), "group", 4);
  file.node("Shape", {"c"}, "shape");
  file.node("Reshape", {"c", "grouped"}, "g");
  file.node("InstanceNormalization", {"g", "one", "zero"}, "n");
  file.node("Reshape", {"n", "shape"}, "r");
  file.node("GlobalAveragePool", {"r"}, "y");
  const Graph graph = imported(file);
  EXPECT_EQ(count(graph, "transpose"), 0) << graph.text();
  EXPECT_EQ(count(graph, "group_norm"), 1);
  // The two channels of a group have means of equal size and other sign.
  const std::vector<float> x = counted(24);
  const std::vector<float> y = run(graph, {{"x", Array(channels_last(x, 1, 4, 6), {1, 2, 3, 4})}});
  EXPECT_NEAR(y[0], -y[1], kTolerance);
  EXPECT_NEAR(y[2], -y[3], kTolerance);
  EXPECT_GT(std::abs(y[0]), 0.01F);
}

TEST(onnx, axes_that_stay_together_are_reshaped_in_place) {
  // Patches of an image as a sequence: [N, C, H, W] to [N, C, H * W] to [N, H * W, C].
  OnnxFile file;
  file.input("x", {-1, 3, 2, 2}).output("y");
  file.floats("w", {3, 3, 1, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}).integers("flat", {0, 3, 4});
  file.node("Conv", {"x", "w"}, "c");
  file.node("Reshape", {"c", "flat"}, "f");
  set_integers(file.node("Transpose", {"f"}, "y"), "perm", {0, 2, 1});
  const Graph graph = imported(file);
  EXPECT_EQ(count(graph, "transpose"), 0) << graph.text();
  const std::vector<float> x = counted(12);
  const std::vector<float> rows = channels_last(x, 1, 3, 4);
  EXPECT_EQ(run(graph, {{"x", Array(rows, {1, 2, 2, 3})}}), rows);
}

TEST(onnx, an_imported_network_trains) {
  const Graph graph = adapt(imported(network()), {.loss = "softmax_cross_entropy"});
  Trainer trainer(graph, {.optimizer = SGD{.lr = 0.05}, .batch = 4});
  std::vector<int32_t> labels{0, 1, 2, 3, 4, 0, 1, 2};
  const data::Dataset data =
      data::in_memory({{"x", {4, 4, 2}, DType::f32}, {"label", {}, DType::i32}},
                      {Array(counted(8 * 32, 0.3F)), Array(std::move(labels))});
  const double before = trainer.evaluate(data).loss;
  trainer.fit(data, {.epochs = 10});
  EXPECT_LT(trainer.evaluate(data).loss, before);
}

TEST(onnx, shapes_are_computed_when_importing) {
  // Reshape to [N, C * H] by Shape, Gather, Mul, Unsqueeze and Concat.
  OnnxFile file;
  file.input("x", {-1, 3, 4}).output("y");
  file.integers("first", {0}).integers("both", {1, 2});
  file.node("Shape", {"x"}, "shape");
  file.node("Gather", {"shape", "first"}, "n");
  file.node("Gather", {"shape", "both"}, "rest");
  set_integer(file.node("ReduceProd", {"rest"}, "all"), "keepdims", 1);
  set_integer(file.node("Concat", {"n", "all"}, "wanted"), "axis", 0);
  file.node("Reshape", {"x", "wanted"}, "y");
  const Graph graph = imported(file);
  EXPECT_EQ(graph.ir().nodes.size(), 1U) << graph.text();
  EXPECT_EQ(graph.ir().type(graph.ir().outputs[0].second).shape, (Shape{kBatch, 12}));
}

TEST(onnx, a_product_with_a_bias_is_a_dense_layer) {
  OnnxFile file;
  file.input("x", {-1, 3}).output("y");
  file.floats("w", {3, 2}, {1, 2, 3, 4, 5, 6}).floats("b", {2}, {10, 20});
  file.node("MatMul", {"x", "w"}, "product");
  file.node("Add", {"b", "product"}, "y");
  const Graph graph = imported(file);
  EXPECT_EQ(source(graph, "w").type.shape, (Shape{2, 3}));
  EXPECT_EQ(count(graph, "add"), 0);
  EXPECT_EQ(run(graph, {{"x", Array(std::vector<float>{1, 0, 2}, {1, 3})}}),
            (std::vector<float>{21, 34}));
}

TEST(onnx, a_weight_that_is_read_twice_is_one_parameter) {
  OnnxFile file;
  file.input("ids", {-1}, 7).output("y");
  file.floats("table", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  file.node("Gather", {"table", "ids"}, "row");
  set_integers(file.node("Transpose", {"table"}, "turned"), "perm", {1, 0});
  file.node("MatMul", {"row", "turned"}, "y");
  const Graph graph = imported(file);
  EXPECT_EQ(source(graph, "table").type.shape, (Shape{4, 2}));
  EXPECT_EQ(source(graph, "ids").type.dtype, DType::i32);
  EXPECT_EQ(run(graph, {{"ids", Array(std::vector<int32_t>{1}, {1})}}),
            (std::vector<float>{11, 25, 39, 53}));
}

TEST(onnx, open_dimensions_are_given_by_name) {
  OnnxFile file;
  file.input("x", {-1, -1}).output("y");
  file.node("Relu", {"x"}, "y");
  EXPECT_THAT(error_of_import(file), HasSubstr("--dim d1=NUMBER"));
  const Graph graph = imported(file, {.dims = {{"d1", 6}}, .keep_layout = false});
  EXPECT_EQ(source(graph, "x").type.shape, (Shape{kBatch, 6}));
  EXPECT_THAT(error_of_import(file, {.dims = {{"d1", 6}, {"T", 2}}, .keep_layout = false}),
              HasSubstr("no input has a dimension named \"T\""));
}

TEST(onnx, data_beside_the_model_is_read) {
  const TemporaryFolder folder;
  OnnxFile file;
  file.input("x", {-1, 2}).output("y");
  onnx_file::TensorProto& w = file.initializer("w", {2, 2}, 1);
  w.set_data_location(1);
  const auto entry = [&](const char* key, const std::string& value) {
    auto& each = *w.add_external_data();
    each.set_key(key);
    each.set_value(value);
  };
  entry("location", "m.onnx.data");
  entry("offset", "4");
  file.node("MatMul", {"x", "w"}, "y");
  const float numbers[] = {9, 1, 2, 3, 4};
  std::ofstream(folder / "m.onnx.data")
      .write(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  std::ofstream(folder / "m.onnx") << file.bytes();
  const Graph graph = import_onnx(folder / "m.onnx");
  EXPECT_EQ(run(graph, {{"x", Array(std::vector<float>{1, 1}, {1, 2})}}),
            (std::vector<float>{4, 6}));
  EXPECT_THAT(error_of_import(file), HasSubstr("lies in another file"));
  w.mutable_external_data(1)->set_value("8");
  std::ofstream(folder / "m.onnx") << file.bytes();
  EXPECT_THAT(error_of([&] { static_cast<void>(import_onnx(folder / "m.onnx")); }),
              HasSubstr("needs 16 bytes from byte 8 on, but the file has 20"));
}

TEST(onnx, functions_of_the_model_are_imported) {
  OnnxFile file;
  file.input("x", {-1, 2}).output("y");
  onnx_file::FunctionProto& function = *file.message().add_functions();
  function.set_name("Twice");
  function.set_domain("own");
  function.add_input("a");
  function.add_output("b");
  onnx_file::NodeProto& inner = *function.add_node();
  inner.set_op_type("Add");
  inner.add_input("a");
  inner.add_input("a");
  inner.add_output("b");
  file.node("Twice", {"x"}, "y").set_domain("own");
  EXPECT_EQ(run(imported(file), {{"x", Array(std::vector<float>{1, 3}, {1, 2})}}),
            (std::vector<float>{2, 6}));
}

TEST(onnx, what_is_wrong_is_said) {
  const auto of = [](const auto& change) {
    OnnxFile file;
    file.input("x", {-1, 2}).output("y");
    change(file);
    return error_of_import(file);
  };
  EXPECT_THAT(of([](OnnxFile& f) { f.node("Loop", {"x"}, "y").set_name("l"); }),
              HasSubstr("[m.onnx] node \"l\" (Loop): thimble does not import this operator"));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("Einsum", {"x", ""}, "y");
              }),
              HasSubstr("input 1 is missing"));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("Attention", {"x", "x", "x"}, "y");
              }),
              HasSubstr("expected [N, heads, T, D]"));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("GridSample", {"x", "x"}, "y");
              }),
              HasSubstr("expected images or volumes"));
  EXPECT_THAT(of([](OnnxFile& f) { f.node("Relu", {"z"}, "y"); }),
              HasSubstr("no node before it gives \"z\""));
  EXPECT_THAT(of([](OnnxFile& f) { f.node("Relu", {"x"}, "z"); }),
              HasSubstr("no node gives the output \"y\""));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("Relu", {"x"}, "y");
                f.floats("w", {3}, {1});
              }),
              HasSubstr("its shape has 3 elements, but it has 1 numbers"));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("Relu", {"x"}, "y");
                f.initializer("w", {int64_t{1} << 40, int64_t{1} << 40}, 1);
              }),
              HasSubstr("makes it too large"));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("Softmax", {"x"}, "y");
                set_integer(*f.graph().mutable_node(0), "axis", 5);
              }),
              HasSubstr("there is no axis 5 in a tensor of 2 dimensions"));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("Relu", {"x"}, "y");
                f.message().mutable_opset_import(0)->set_version(6);
              }),
              HasSubstr("the model is of opset 6; convert it to 7 or newer"));
  EXPECT_THAT(of([](OnnxFile& f) {
                f.node("Relu", {"x"}, "y");
                f.message().mutable_opset_import(0)->set_version(28);
              }),
              HasSubstr("the model is of opset 28, and thimble knows those up to 27"));
  EXPECT_THAT(error_of([] { static_cast<void>(parse_model("m.onnx", "\x08\x07\x3a\xff", false)); }),
              HasSubstr("no ONNX model, or it is damaged"));
  EXPECT_THAT(error_of([] { static_cast<void>(parse_model("m.onnx", "", false)); }),
              HasSubstr("it has no graph"));
}

TEST(onnx, deep_nesting_is_refused) {
  OnnxFile file;
  file.input("x", {-1, 2}).output("y");
  onnx_file::GraphProto* graph = &file.graph();
  for (int i = 0; i < 12; ++i) {
    onnx_file::NodeProto& node = *graph->add_node();
    node.set_op_type("If");
    onnx_file::AttributeProto& branch = *node.add_attribute();
    branch.set_name("then_branch");
    branch.set_type(5);
    graph = branch.mutable_g();
  }
  EXPECT_THAT(error_of_import(file), HasSubstr("graphs lie more than 8 deep"));
}

}  // namespace
}  // namespace thimble::test::onnx_test
