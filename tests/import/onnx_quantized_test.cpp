// ONNX models on int8 and uint8: of both forms that quantizers write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/import.h>
#include <thimble/quantize.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cmath>

#include "harness/error_of.h"
#include "import/onnx/onnx.h"
#include "ir/graph.h"
#include "onnx_files.h"

namespace thimble::test::onnx_quantized_test {
namespace {

using Integers = std::vector<int32_t>;

constexpr int kInt8 = 3;
constexpr int kUint8 = 2;
constexpr int kInt32 = 6;

// Powers of two, so that sums in f32 are those of the integers.
constexpr float kInput = 0.0625F;
constexpr float kHidden = 0.125F;
constexpr float kScores = 0.25F;
const std::vector<float> kChannels{0.5F, 0.25F, 0.125F};
constexpr float kMatrix = 0.0625F;

struct Form {
  bool operators = false;  // QLinearConv and QLinearMatMul, else QuantizeLinear, DequantizeLinear
  bool is_unsigned = false;
  bool with_bounds = false;  // a Relu before the rounding
  [[nodiscard]] int type() const { return is_unsigned ? kUint8 : kInt8; }
  [[nodiscard]] int shift() const { return is_unsigned ? 128 : 0; }
};

Integers drawn(int count, int seed) {
  Integers made;
  for (int i = 0; i < count; ++i) made.push_back((i * 37 + seed * 11) % 41 - 20);
  return made;
}

const Integers kKernel = drawn(3 * 2 * 3 * 3, 1);
const Integers kBias{40, -30, 20};
const Integers kRows = drawn(3 * 2 * 2 * 4, 2);  // [features, units]

void integers(OnnxFile& file, const std::string& name, const std::vector<int64_t>& dims, int type,
              const Integers& values) {
  auto& tensor = file.initializer(name, dims, type);
  for (const int32_t value : values) tensor.add_int32_data(value);
}

// Images [N, 2, 4, 4]: convolution, pooling, product.
OnnxFile network(const Form& form) {
  OnnxFile file;
  file.input("x", {-1, 2, 4, 4}).output("y");
  file.floats("sx", {}, {kInput}).floats("sh", {}, {kHidden}).floats("sy", {}, {kScores});
  integers(file, "zx", {}, form.type(), {form.shift() + 3});
  integers(file, "zh", {}, form.type(), {form.shift() - 128});
  integers(file, "zy", {}, form.type(), {form.shift() - 5});
  integers(file, "w", {3, 2, 3, 3}, kInt8, kKernel);
  file.floats("sw", {3}, kChannels);
  integers(file, "zw", {3}, kInt8, {0, 0, 0});
  integers(file, "b", {3}, kInt32, kBias);
  integers(file, "m", {12, 4}, kInt8, kRows);
  file.floats("sm", {}, {kMatrix});
  integers(file, "zm", {}, kInt8, {0});
  const auto add = [&](const std::string& op, const std::vector<std::string>& inputs,
                       const std::string& output) -> onnx_file::NodeProto& {
    return file.node(op, inputs, output);
  };
  const auto pool = [&](const std::string& from, const std::string& to) {
    auto& node = add("MaxPool", {from}, to);
    set_integers(node, "kernel_shape", {2, 2});
    set_integers(node, "strides", {2, 2});
  };
  add("QuantizeLinear", {"x", "sx", "zx"}, "qx");
  if (form.operators) {
    auto& conv = add("QLinearConv", {"qx", "sx", "zx", "w", "sw", "zw", "sh", "zh", "b"}, "qh");
    set_integers(conv, "pads", {1, 1, 1, 1});
    pool("qh", "qp");
    add("Flatten", {"qp"}, "qf");
    add("QLinearMatMul", {"qf", "sh", "zh", "m", "sm", "zm", "sy", "zy"}, "qy");
  } else {
    std::vector<float> units;
    for (const float scale : kChannels) units.push_back(scale * kInput);
    file.floats("sb", {3}, units);
    integers(file, "zb", {3}, kInt32, {0, 0, 0});
    add("DequantizeLinear", {"qx", "sx", "zx"}, "dx");
    set_integer(add("DequantizeLinear", {"w", "sw", "zw"}, "dw"), "axis", 0);
    set_integer(add("DequantizeLinear", {"b", "sb", "zb"}, "db"), "axis", 0);
    set_integers(add("Conv", {"dx", "dw", "db"}, "c"), "pads", {1, 1, 1, 1});
    if (form.with_bounds) add("Relu", {"c"}, "r");
    add("QuantizeLinear", {form.with_bounds ? "r" : "c", "sh", "zh"}, "qh");
    add("DequantizeLinear", {"qh", "sh", "zh"}, "dh");
    pool("dh", "p");
    add("QuantizeLinear", {"p", "sh", "zh"}, "qp");
    add("DequantizeLinear", {"qp", "sh", "zh"}, "dp");
    add("Flatten", {"dp"}, "f");
    add("DequantizeLinear", {"m", "sm", "zm"}, "dm");
    add("MatMul", {"f", "dm"}, "s");
    add("QuantizeLinear", {"s", "sy", "zy"}, "qy");
  }
  add("DequantizeLinear", {"qy", "sy", "zy"}, "y");
  return file;
}

int32_t rounded(double x, double scale, int zero) {
  return static_cast<int32_t>(std::clamp(std::nearbyint(x / scale) + zero, -128.0, 127.0)) - zero;
}

// What the network computes for one image [4, 4, 2], with integers.
std::vector<float> expected(const std::vector<float>& image) {
  int32_t pooled[3][2][2];
  std::fill_n(&pooled[0][0][0], 12, -1000);
  for (int k = 0; k < 3; ++k) {
    for (int p = 0; p < 16; ++p) {
      int32_t sum = kBias[static_cast<size_t>(k)];
      for (int tap = 0; tap < 9; ++tap) {
        const int row = p / 4 + tap / 3 - 1;
        const int column = p % 4 + tap % 3 - 1;
        if (row < 0 || row > 3 || column < 0 || column > 3) continue;
        for (int c = 0; c < 2; ++c) {
          const float x = image[static_cast<size_t>((row * 4 + column) * 2 + c)];
          sum += rounded(static_cast<double>(x), kInput, 3) *
                 kKernel[static_cast<size_t>((k * 2 + c) * 9 + tap)];
        }
      }
      const double real = sum * static_cast<double>(kChannels[static_cast<size_t>(k)] * kInput);
      int32_t& place = pooled[k][p / 8][p % 4 / 2];
      place = std::max(place, rounded(real, kHidden, -128));
    }
  }
  std::vector<float> y;
  for (int u = 0; u < 4; ++u) {
    int32_t sum = 0;
    for (int i = 0; i < 12; ++i) {
      sum += (&pooled[0][0][0])[i] * kRows[static_cast<size_t>(i * 4 + u)];
    }
    y.push_back(static_cast<float>(rounded(sum * double{kMatrix * kHidden}, kScores, -5)) *
                kScores);
  }
  return y;
}

Array images(int count) {
  std::vector<float> values;
  for (int i = 0; i < count * 32; ++i) {
    values.push_back(static_cast<float>((i * 53) % 97 - 48) / 16.0F);
  }
  return {std::move(values), {count, 4, 4, 2}};
}

std::vector<float> expected_of(const Array& x) {
  std::vector<float> all;
  const std::vector<float> values = x.floats();
  for (size_t at = 0; at < values.size(); at += 32) {
    const auto first = values.begin() + static_cast<int64_t>(at);
    for (const float y : expected({first, first + 32})) all.push_back(y);
  }
  return all;
}

Graph imported(const OnnxFile& file) {
  return importer::onnx::graph_of("m.onnx",
                                  importer::onnx::parse_model("m.onnx", file.bytes(), false), {});
}

int count(const Graph& graph, const std::string& op) {
  return static_cast<int>(std::count_if(graph.ir().nodes.begin(), graph.ir().nodes.end(),
                                        [&](const ir::Node& node) { return op == node.op->name; }));
}

constexpr Form kForms[] = {{},
                           {.is_unsigned = true},
                           {.with_bounds = true},
                           {.operators = true},
                           {.operators = true, .is_unsigned = true}};

TEST(onnx_quantized, both_forms_compute_what_the_integers_compute) {
  const Array x = images(3);
  for (const Form& form : kForms) {
    const Graph graph = imported(network(form));
    EXPECT_EQ(count(graph, "quantize") + count(graph, "cast") + count(graph, "relu"), 0)
        << graph.text();
    EXPECT_EQ(count(graph, "conv2d"), 1);
    EXPECT_EQ(Predictor(graph, 3).run({{"x", x}}).at("y").floats(), expected_of(x))
        << form.operators << form.is_unsigned << form.with_bounds;
  }
}

TEST(onnx_quantized, both_forms_become_networks_of_int8_with_the_integers_of_the_file) {
  const Array x = images(4);
  for (const Form& form : kForms) {
    const Graph graph = imported(network(form));
    const data::Dataset data = data::in_memory({{"x", {4, 4, 2}, DType::f32}}, {x});
    const QuantizedModel made = quantize_model(graph, data);
    EXPECT_EQ(count(made.graph, "quantized_conv2d"), 1);
    EXPECT_EQ(count(made.graph, "quantized_dense"), 1);
    EXPECT_EQ(count(made.graph, "conv2d") + count(made.graph, "matmul"), 0);
    for (const ir::ValueData& value : made.graph.ir().values) {
      if (value.type.dtype == DType::i32 && value.producer < 0) {
        EXPECT_EQ(value.data->integers(), (std::vector<int64_t>{kBias.begin(), kBias.end()}));
      }
    }
    EXPECT_EQ(Predictor(made.graph, 4).run({{"x", x}}).at("y").floats(), expected_of(x));
  }
}

TEST(onnx_quantized, both_forms_train) {
  const data::Dataset data =
      data::in_memory({{"x", {4, 4, 2}, DType::f32}, {"label", {}, DType::i32}},
                      {images(4), Array(std::vector<int32_t>{0, 1, 2, 3})});
  for (const Form& form : kForms) {
    const Graph graph = adapt(imported(network(form)), {.loss = "softmax_cross_entropy"});
    Trainer trainer(graph, {.optimizer = SGD{.lr = 0.01}, .batch = 4});
    const double before = trainer.evaluate(data).loss;
    trainer.fit(data, {.epochs = 20});
    EXPECT_LT(trainer.evaluate(data).loss, before);
  }
}

std::vector<std::string> operators_of(const OnnxFile& file) {
  std::vector<std::string> names;
  for (const auto& node : importer::onnx::parse_model("m.onnx", file.bytes(), false).graph.nodes) {
    if (node.op != "DequantizeLinear") names.push_back(node.op);
  }
  return names;
}

// Those of onnxruntime's own domain: an operator on f32 whose result is rounded.
TEST(onnx_quantized, operators_of_onnxruntime_are_expanded) {
  OnnxFile file;
  file.input("x", {-1, 4}, kInt8).output("y");
  file.floats("s", {}, {0.5F}).floats("channels", {3}, kChannels);
  integers(file, "z", {}, kInt8, {0});
  integers(file, "zeros", {3}, kInt8, {0, 0, 0});
  integers(file, "w", {4, 3}, kInt8, drawn(12, 1));
  integers(file, "b", {3}, kInt32, kBias);
  const std::string domain = "com.microsoft";
  const std::vector<std::string> scale{"s", "z"};
  const auto add = [&](const std::string& op, std::vector<std::string> inputs,
                       const std::string& y) -> onnx_file::NodeProto& {
    auto& node = file.node(op, inputs, y);
    node.set_domain(domain);
    return node;
  };
  add("QLinearAdd", {"x", "s", "z", "x", "s", "z", "s", "z"}, "twice");
  set_integer(add("QLinearConcat", {"s", "z", "x", "s", "z", "twice", "s", "z"}, "wide"), "axis",
              1);
  add("QLinearSigmoid", {"wide", "s", "z", "s", "z"}, "gate");
  add("QLinearMul", {"wide", "s", "z", "gate", "s", "z", "s", "z"}, "gated");
  add("QGemm", {"x", "s", "z", "w", "channels", "zeros", "b"}, "y");
  EXPECT_EQ(operators_of(file), (std::vector<std::string>{
                                    "Add", "QuantizeLinear", "Concat", "QuantizeLinear", "Sigmoid",
                                    "QuantizeLinear", "Mul", "QuantizeLinear", "Gemm"}));
  const Array x(std::vector<int8_t>{1, -2, 3, 4}, {1, 4});
  std::vector<float> y;
  for (size_t u = 0; u < 3; ++u) {
    int32_t sum = kBias[u];
    for (size_t i = 0; i < 4; ++i) sum += x.as<int8_t>()[i] * drawn(12, 1)[i * 3 + u];
    y.push_back(static_cast<float>(sum) * kChannels[u] * 0.5F);
  }
  EXPECT_EQ(Predictor(imported(file), 1).run({{"x", x}}).at("y").floats(), y);
  // A scale that is computed, and images with channels last, are not.
  file.input("t", {-1, 4});
  add("QLinearSigmoid", {"x", "t", "z", "s", "z"}, "other");
  set_integer(add("QLinearGlobalAveragePool", {"x", "s", "z", "s", "z"}, "pool"), "channels_last",
              1);
  EXPECT_EQ(operators_of(file).at(9), "QLinearSigmoid");
  EXPECT_EQ(operators_of(file).at(10), "QLinearGlobalAveragePool");
  EXPECT_THAT(error_of([&] { static_cast<void>(imported(file)); }),
              testing::HasSubstr("scales and zero points are initializers"));
}

TEST(onnx_quantized, weights_are_not_copied_without_end) {
  OnnxFile file = network({.operators = true});
  for (int i = 0; i < 20; ++i) {
    file.node("DequantizeLinear", {"m", "sm", "zm"}, "copy" + std::to_string(i));
  }
  EXPECT_THAT(error_of([&] { static_cast<void>(imported(file)); }),
              testing::HasSubstr("over and over"));
}

// Results that something else than a quantized operator reads are integers.
TEST(onnx_quantized, integers_that_are_read_as_such_stay_integers) {
  OnnxFile file = network({.operators = true});
  file.output("qh");
  const Graph graph = imported(file);
  EXPECT_EQ(graph.ir().type(graph.ir().outputs[1].second).dtype, DType::i8) << graph.text();
}

}  // namespace
}  // namespace thimble::test::onnx_quantized_test
