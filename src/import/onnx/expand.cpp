#include "import/onnx/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "import/onnx/fresh_names.h"
#include "io/json/parse.h"

namespace thimble::importer::onnx {
namespace {

constexpr const char* kOnnxruntime = "com.microsoft";
constexpr size_t kNone = SIZE_MAX;
constexpr int64_t kMostScales = int64_t{1} << 24;  // of all biases

// Where an operator has its inputs. Scale and zero point follow each operand.
struct Form {
  const char* domain;
  const char* op;
  const char* plain;             // the operator on f32
  std::vector<size_t> operands;  // the second: weights, which may have a scale for each channel
  size_t result;                 // its scale; the zero point follows
  size_t bias = kNone;           // in units of the products
};

const Form* form_of(const NodeDef& node) {
  static const Form forms[] = {
      {"", "QLinearConv", "Conv", {0, 3}, 6, 8},
      {"", "QLinearMatMul", "MatMul", {0, 3}, 6},
      {kOnnxruntime, "QGemm", "Gemm", {0, 3}, 7, 6},
      {kOnnxruntime, "QLinearAdd", "Add", {0, 3}, 6},
      {kOnnxruntime, "QLinearMul", "Mul", {0, 3}, 6},
      {kOnnxruntime, "QLinearConcat", "Concat", {}, 0},
      {kOnnxruntime, "QLinearSigmoid", "Sigmoid", {0}, 3},
      {kOnnxruntime, "QLinearLeakyRelu", "LeakyRelu", {0}, 3},
      {kOnnxruntime, "QLinearSoftmax", "Softmax", {0}, 3},
      {kOnnxruntime, "QLinearAveragePool", "AveragePool", {0}, 3},
      {kOnnxruntime, "QLinearGlobalAveragePool", "GlobalAveragePool", {0}, 3},
  };
  const auto* const found = std::find_if(std::begin(forms), std::end(forms), [&](const Form& form) {
    return node.domain == form.domain && node.op == form.op;
  });
  return found == std::end(forms) ? nullptr : found;
}

int64_t integer(const NodeDef& node, const char* name, int64_t otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : found->second.integer;
}

class Expansion {
 public:
  explicit Expansion(Model& model) : model_(model), graph_(model.graph) {}

  void run() {
    std::vector<NodeDef> nodes = std::exchange(graph_.nodes, {});
    for (const NodeDef& node : nodes) {
      for (const std::string& name : node.outputs) names_.take(name);
      for (const std::string& name : node.inputs) names_.take(name);
    }
    for (const auto& [name, tensor] : graph_.initializers) names_.take(name);
    for (NodeDef& node : nodes) {
      const Form* const form = form_of(node);
      if (form == nullptr || !expand(node, *form)) graph_.nodes.push_back(std::move(node));
    }
  }

 private:
  struct Operand {
    std::string x;
    std::string scale;
    std::string zero;
    int64_t axis = 0;
  };

  const Tensor* initializer(const std::string& name) const {
    const auto found = graph_.initializers.find(name);
    return found == graph_.initializers.end() ? nullptr : &found->second;
  }

  // Input i and what follows it; none: an input is left out, or a scale is computed.
  std::optional<Operand> operand(const NodeDef& node, size_t i, bool has_tensor) const {
    const size_t scale = has_tensor ? i + 1 : i;
    if (scale + 1 >= node.inputs.size()) return std::nullopt;
    Operand made{has_tensor ? node.inputs[i] : "", node.inputs[scale], node.inputs[scale + 1]};
    if (has_tensor && made.x.empty()) return std::nullopt;
    const Tensor* const numbers = initializer(made.scale);
    if (numbers == nullptr || initializer(made.zero) == nullptr ||
        numbers->values.dtype() != DType::f32 || numbers->values.elements() < 1) {
      return std::nullopt;
    }
    return made;
  }

  // The axis that several scales of the weights count; none: it is not known.
  std::optional<int64_t> channels(const NodeDef& node, const Form& form, const Operand& weights) {
    if (std::string(form.plain) == "Conv") return 0;
    if (std::string(form.plain) == "Gemm") return integer(node, "transB", 0) != 0 ? 0 : 1;
    const Tensor* const values = initializer(weights.x);
    if (values == nullptr || values->values.shape().rank() < 1) return std::nullopt;
    return values->values.shape().rank() - 1;
  }

  bool has_one_scale(const Operand& operand) const {
    return initializer(operand.scale)->values.elements() == 1;
  }

  // The operator's attributes have the meaning of those of the operator on f32.
  bool has_plain_attributes(const NodeDef& node) const {
    if (integer(node, "channels_last", 0) != 0) return false;
    const auto ours = model_.opsets.find("");
    constexpr int64_t kOneAxis = 13;  // Softmax is over one axis since
    return node.op != "QLinearSoftmax" ||
           (ours != model_.opsets.end() &&
            (ours->second < kOneAxis) == (integer(node, "opset", kOneAxis) < kOneAxis));
  }

  // The scale of the bias as an initializer; empty: it is not known.
  std::string bias_scale(const NodeDef& node, const Operand& x, const Operand& w, size_t bias) {
    const Tensor* const integers = initializer(node.inputs[bias]);
    if (integers == nullptr || integers->values.dtype() != DType::i32 ||
        integers->values.shape().rank() != 1) {
      return "";
    }
    std::vector<float> scales = initializer(w.scale)->values.floats();
    if (scales.size() != 1 &&
        Shape{static_cast<int64_t>(scales.size())} != integers->values.shape())
      return "";
    const auto alpha = node.attributes.find("alpha");
    const float factor =
        initializer(x.scale)->values.floats()[0] *
        (alpha == node.attributes.end() ? 1.0F : static_cast<float>(alpha->second.number));
    for (float& scale : scales) scale *= factor;
    made_ += static_cast<int64_t>(scales.size());
    if (made_ > kMostScales) return "";
    const Shape shape = scales.size() == 1 ? Shape() : Shape{static_cast<int64_t>(scales.size())};
    std::string name = names_.make(node.inputs[bias] + "_scale");
    graph_.initializers.emplace(name, Tensor{Array(std::move(scales), shape)});
    return name;
  }

  std::string dequantized(const NodeDef& node, const Operand& from) {
    std::string& name = dequantized_[{from.x, from.scale, from.zero, from.axis}];
    if (!name.empty()) return name;
    name = names_.make(from.x + "_dequantized");
    NodeDef made;
    made.op = "DequantizeLinear";
    made.described = described(node);
    made.inputs = {from.x, from.scale};
    if (!from.zero.empty()) made.inputs.push_back(from.zero);
    made.outputs = {name};
    made.attributes["axis"].kind = Attribute::Kind::integer;
    made.attributes["axis"].integer = from.axis;
    graph_.nodes.push_back(std::move(made));
    return name;
  }

  static std::string described(const NodeDef& node) {
    return node.name.empty() ? node.op : fmt::format("{} ({})", io::printable(node.name), node.op);
  }

  bool expand(NodeDef& node, const Form& form) {
    std::vector<size_t> places = form.operands;
    if (places.empty()) {
      for (size_t i = form.result + 2; i < node.inputs.size(); i += 3) places.push_back(i);
    }
    if (places.empty() || node.outputs.size() != 1 || !has_plain_attributes(node)) return false;
    std::vector<Operand> operands;
    for (const size_t place : places) {
      const auto read = operand(node, place, true);
      if (!read) return false;
      operands.push_back(*read);
      if (has_one_scale(operands.back())) continue;
      if (place != 3) return false;
      const auto axis = channels(node, form, operands.back());
      if (!axis) return false;
      operands.back().axis = *axis;
    }
    const bool gives_f32 = node.op == "QGemm" && node.inputs.size() <= form.result;
    const auto result = operand(node, form.result, false);
    if (!gives_f32 && (!result || !has_one_scale(*result))) return false;
    const bool has_bias = form.bias < node.inputs.size() && !node.inputs[form.bias].empty();
    std::string units;
    if (has_bias) {
      units = bias_scale(node, operands[0], operands[1], form.bias);
      if (units.empty()) return false;
    }

    NodeDef plain;
    plain.op = form.plain;
    plain.name = node.name;
    plain.described = described(node);
    plain.attributes = node.attributes;
    plain.attributes.erase("channels_last");
    plain.attributes.erase("opset");
    for (const Operand& each : operands) plain.inputs.push_back(dequantized(node, each));
    if (has_bias) plain.inputs.push_back(dequantized(node, {node.inputs[form.bias], units, ""}));
    plain.outputs = {gives_f32 ? node.outputs[0] : names_.make(node.outputs[0] + "_real")};
    NodeDef last;
    last.op = "QuantizeLinear";
    last.described = plain.described;
    last.outputs = {node.outputs[0]};
    if (!gives_f32) last.inputs = {plain.outputs[0], result->scale, result->zero};
    graph_.nodes.push_back(std::move(plain));
    if (!gives_f32) graph_.nodes.push_back(std::move(last));
    return true;
  }

  Model& model_;
  GraphDef& graph_;
  int64_t made_ = 0;  // scales of biases
  FreshNames names_;
  std::map<std::tuple<std::string, std::string, std::string, int64_t>, std::string> dequantized_;
};

}  // namespace

bool is_expandable(const NodeDef& node) { return form_of(node) != nullptr; }

void expand_quantized(Model& model) {
  const std::vector<NodeDef>& nodes = model.graph.nodes;
  if (std::any_of(nodes.begin(), nodes.end(), is_expandable)) Expansion(model).run();
}

}  // namespace thimble::importer::onnx
