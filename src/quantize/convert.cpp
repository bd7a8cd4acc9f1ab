#include "quantize/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/canonical.h"
#include "quantize/fold.h"
#include "quantize/samples.h"

namespace thimble::quantizing {
namespace {

template <class Holds>
const ir::OpDef& op_that(const Holds& holds) {
  const auto ops = ir::all_ops();
  return **std::find_if(ops.begin(), ops.end(),
                        [&](const ir::OpDef* op) { return holds(op->quantized); });
}

ir::TensorType int8_type(const Shape& shape, Quantization q) {
  return {DType::i8, shape, std::make_shared<const Quantization>(ir::canonical(std::move(q)))};
}

// The matrix [columns, rows] with its axes swapped.
std::vector<float> transposed(const std::vector<float>& values, int64_t rows, int64_t columns) {
  std::vector<float> made(values.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      made[static_cast<size_t>(c * rows + r)] = values[static_cast<size_t>(r * columns + c)];
    }
  }
  return made;
}

class Conversion {
 public:
  Conversion(const ir::Graph& from, const Outline& outline, const std::map<int, Range>& ranges,
             const QuantizeModelOptions& options)
      : from_(from),
        outline_(outline),
        ranges_(ranges),
        options_(options),
        consumers_(from.consumers()),
        real_(from.values.size(), -1),
        int8_(from.values.size(), -1),
        absorbed_(from.nodes.size(), 0),
        to_int8_(op_that([](const auto& rule) { return rule.to_int8 != nullptr; })),
        to_f32_(op_that([](const auto& rule) { return rule.to_f32; })) {
    made_.graph.layers = from.layers;
  }

  Converted run() && {
    add_inputs();
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      if (absorbed_[n] != 0) continue;
      const ir::Node& node = from_.nodes[n];
      to().reopen_layer(node.layer);
      const std::string reason = quantized(n);
      if (!reason.empty()) {
        copy(node);
        if (outline_.is_inner[n] != 0) {
          made_.float_layers.push_back({name_of(node, node.op->name), node.op->name, reason});
        }
      }
      to().end_layer();
    }
    add_results();
    for (ConvertedLayer& layer : made_.layers) layer.to = real(layer.from).id();
    return std::move(made_);
  }

 private:
  ir::Graph& to() { return made_.graph; }

  // Inputs and labels in their order.
  void add_inputs() {
    for (size_t id = 0; id < from_.values.size(); ++id) {
      const ir::ValueData& data = from_.values[id];
      const auto range = ranges_.find(static_cast<int>(id));
      if (data.role == ir::Role::input && options_.int8_inputs && range != ranges_.end()) {
        const ActivationScale chosen = scale_of(range->second);
        int8_[id] = to().source(data.name,
                                int8_type(data.type.shape, {{chosen.scale}, {chosen.zero_point}}),
                                ir::Role::input)
                        .id();
      } else if (data.role == ir::Role::input || data.role == ir::Role::label) {
        real_[id] = to().copy_source(data).id();
      }
    }
  }

  void add_results() {
    if (from_.loss) to().loss = real(*from_.loss).id();
    for (const auto& [name, id] : from_.metrics) to().metrics.emplace_back(name, real(id).id());
    for (const auto& [name, id] : from_.outputs) {
      const int of_int8 = int8_[static_cast<size_t>(id)];
      const bool as_int8 = options_.int8_outputs && of_int8 >= 0;
      to().outputs.emplace_back(name, as_int8 ? of_int8 : real(id).id());
    }
  }

  // A value of the old graph in its own type.
  Value real(int id) {
    int& known = real_[static_cast<size_t>(id)];
    if (known >= 0) return to().value(known);
    const int of_int8 = int8_[static_cast<size_t>(id)];
    if (of_int8 >= 0) {
      known = to().add1(to_f32_, {}, {to().value(of_int8)}).id();
    } else {
      ir::ValueData data = from_.data(id);
      // The name is taken where the int8 form was tried in vain.
      data.name = free_name(to(), *data.name);
      known = to().copy_source(data).id();
    }
    return to().value(known);
  }

  // It in int8, or none: its range is not known.
  Value int8(int id) {
    int& known = int8_[static_cast<size_t>(id)];
    if (known >= 0) return to().value(known);
    const ir::ValueData& data = from_.data(id);
    if (has_values(data)) return known_values(id);
    const auto range = ranges_.find(id);
    if (range == ranges_.end()) return {};
    const ActivationScale chosen = scale_of(range->second);
    const ir::Attrs attrs = to_int8_.quantized.to_int8(static_cast<double>(chosen.scale),
                                                       chosen.zero_point, options_.requantization);
    known = to().add1(to_int8_, attrs, {real(id)}).id();
    return to().value(known);
  }

  // A parameter or constant as an activation: int8 numbers of one scale.
  Value known_values(int id) {
    const ir::ValueData& data = from_.data(id);
    const std::vector<float> values = data.data->floats();
    const ActivationScale chosen = scale_of(joined({}, values));
    std::vector<int8_t> integers;
    for (const float value : values) {
      const double at = static_cast<double>(value) / static_cast<double>(chosen.scale);
      const double integer = std::nearbyint(at) + chosen.zero_point;
      integers.push_back(static_cast<int8_t>(std::clamp(integer, -128.0, 127.0)));
    }
    const Value made = parameter(id, Array(std::move(integers), data.type.shape),
                                 {{chosen.scale}, {chosen.zero_point}});
    int8_[static_cast<size_t>(id)] = made.id();
    return made;
  }

  // A parameter in the place of an old one: of its name, if nothing else needs that.
  Value parameter(int id, Array values, const Quantization& q, bool trainable = false) {
    std::string name = from_.data(id).name;
    if (consumers_[static_cast<size_t>(id)].size() > 1) name += ".int8";
    ir::TensorType type{values.dtype(), values.shape()};
    if (!q.scales.empty()) type = int8_type(values.shape(), q);
    const Value made =
        to().source(free_name(to(), name), std::move(type), ir::Role::parameter, init::zeros());
    ir::ValueData& data = to().values[static_cast<size_t>(made.id())];
    data.trainable = trainable;
    data.data = std::move(values);
    return made;
  }

  // Adds weight and bias on int8 to the inputs.
  void add_weights(std::vector<Value>& inputs, const KnownWeights& known) {
    const ir::ValueData& data = from_.data(known.weight);
    std::vector<float> values = data.data->floats();
    Shape shape = data.type.shape;
    int axis = known.layout.channels;
    if (known.layout.transposed) {
      values = transposed(values, shape[0], shape[1]);
      shape = {shape[1], shape[0]};
      axis = 1 - axis;
    }
    std::vector<float> bias;
    if (known.bias >= 0) bias = from_.data(known.bias).data->floats();
    QuantizedWeights made =
        quantized_weights(values, shape, axis, bias, inputs[0].quantization()->scales[0]);
    inputs[static_cast<size_t>(known.layout.weight)] =
        parameter(known.weight, Array(std::move(made.weight), shape),
                  {.scales = std::move(made.scales), .axis = axis}, data.trainable);
    if (known.bias < 0) return;
    const auto count = static_cast<int64_t>(made.bias.size());
    inputs[static_cast<size_t>(known.layout.bias)] = parameter(
        known.bias, Array(std::move(made.bias), {count}), {}, from_.data(known.bias).trainable);
  }

  // The inputs of a node on int8; a text: why there are none.
  std::string inputs_of(const ir::Node& node, std::vector<Value>& inputs) {
    inputs.resize(node.inputs.size());
    if (node.op->quantized.weights != nullptr) {
      const std::optional<KnownWeights> known = known_weights(from_, node);
      if (!known) return "its weights are computed, or are no weights of a layer";
      inputs[0] = int8(node.inputs[0]);
      if (!inputs[0]) return "the range of its input is not known";
      add_weights(inputs, *known);
      return "";
    }
    const auto is_int8 = [&](int id) { return id >= 0 && int8_[static_cast<size_t>(id)] >= 0; };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), is_int8)) {
      return "its inputs are f32";
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] < 0) continue;
      inputs[i] = int8(node.inputs[i]);
      if (!inputs[i]) return "the range of an input is not known";
    }
    return "";
  }

  // Adds the int8 form of a node; a text: why it has none.
  std::string quantized(size_t n) {
    const ir::Node& node = from_.nodes[n];
    const ir::QuantizeRule& rule = node.op->quantized;
    if (outline_.is_inner[n] == 0) return "it belongs to loss or metrics";
    if (rule.build == nullptr) return "it has no int8 form";
    const int clamp = outline_.clamp[n];
    const int result =
        clamp < 0 ? node.outputs[0] : from_.nodes[static_cast<size_t>(clamp)].outputs[0];
    const auto range = ranges_.find(result);
    if (rule.rescales && range == ranges_.end()) return "the range of its result is not known";
    std::vector<Value> built;
    try {
      std::vector<Value> inputs;
      const std::string reason = inputs_of(node, inputs);
      if (!reason.empty()) return reason;
      const ActivationScale chosen =
          range == ranges_.end() ? ActivationScale() : scale_of(range->second);
      built = rule.build({*node.op, node.attrs, inputs, static_cast<double>(chosen.scale),
                          chosen.zero_point, options_.requantization});
    } catch (const Error& error) {
      return error.message();
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const bool is_read = !consumers_[static_cast<size_t>(node.outputs[i])].empty();
      if (i >= built.size() && is_read) return "not all of its results have an int8 form";
    }
    for (size_t i = 0; i < std::min(built.size(), node.outputs.size()); ++i) {
      int8_[static_cast<size_t>(i == 0 ? result : node.outputs[i])] = built[i].id();
    }
    if (clamp >= 0) absorbed_[static_cast<size_t>(clamp)] = 1;
    if (rule.weights != nullptr) ++made_.weighted;
    if (node.op->memory.views.empty() && is_per_sample(from_.type(result))) {
      add_layer(node, result, built[0]);
    }
    return "";
  }

  void add_layer(const ir::Node& node, int result, const Value& built) {
    const Quantization& q = *built.quantization();
    const int producer = to().data(built.id()).producer;
    std::string op = to().nodes[static_cast<size_t>(producer)].op->name;
    std::string name = name_of(node, op);
    made_.layers.push_back({{.name = std::move(name),
                             .op = std::move(op),
                             .scale = static_cast<double>(q.scales[0]),
                             .zero_point = q.zero_points.empty() ? 0 : q.zero_points[0]},
                            result});
  }

  // The name of the node's layer; of a node without one, its op and a number.
  std::string name_of(const ir::Node& node, const std::string& op) {
    if (node.layer >= 0) return from_.layers[static_cast<size_t>(node.layer)].name;
    return fmt::format("{}_{}", op, ++unnamed_[op]);
  }

  void copy(const ir::Node& node) {
    std::vector<Value> inputs;
    for (const int id : node.inputs) inputs.push_back(id < 0 ? Value() : real(id));
    const std::vector<Value> outputs = to().add(*node.op, node.attrs, inputs);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      real_[static_cast<size_t>(node.outputs[i])] = outputs[i].id();
    }
  }

  const ir::Graph& from_;
  const Outline& outline_;
  const std::map<int, Range>& ranges_;
  const QuantizeModelOptions& options_;
  std::vector<std::vector<int>> consumers_;
  std::vector<int> real_;  // by old value: the new one of its own type; -1: there is none yet
  std::vector<int> int8_;  // likewise in int8
  std::vector<char> absorbed_;
  std::map<std::string, int> unnamed_;
  const ir::OpDef& to_int8_;
  const ir::OpDef& to_f32_;
  Converted made_;
};

}  // namespace

Converted convert(const ir::Graph& graph, const Outline& outline,
                  const std::map<int, Range>& ranges, const QuantizeModelOptions& options) {
  return Conversion(graph, outline, ranges, options).run();
}

}  // namespace thimble::quantizing
