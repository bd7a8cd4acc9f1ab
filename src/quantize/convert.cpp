#include "quantize/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/canonical.h"
#include "quantize/fake_nodes.h"
#include "quantize/fold.h"
#include "quantize/samples.h"
#include "quantize/weights.h"

namespace thimble::quantizing {
namespace {

ir::TensorType int8_type(const Shape& shape, Quantization q) {
  return {DType::i8, shape, std::make_shared<const Quantization>(ir::canonical(std::move(q)))};
}

// The matrix [columns, rows] with its axes swapped.
std::vector<int8_t> transposed(const std::vector<int8_t>& values, int64_t rows, int64_t columns) {
  std::vector<int8_t> made(values.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      made[static_cast<size_t>(c * rows + r)] = values[static_cast<size_t>(r * columns + c)];
    }
  }
  return made;
}

// Nodes that depend on parameters and constants alone.
std::vector<char> of_parameters(const ir::Graph& graph) {
  std::vector<char> made(graph.nodes.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::vector<int>& inputs = graph.nodes[n].inputs;
    made[n] = std::all_of(inputs.begin(), inputs.end(), [&](int id) {
      if (id < 0) return true;
      const ir::ValueData& data = graph.data(id);
      return data.producer < 0 ? ir::is_persistent(data.role)
                               : made[static_cast<size_t>(data.producer)] != 0;
    });
  }
  return made;
}

// The integers of weights that were trained in steps; none: the steps are none of int8 weights.
std::optional<QuantizedWeights> trained_weights(const ir::ValueData& data, int axis,
                                                const FakeNode& fake) {
  const ChannelWalk walk = walk_of(data.type.shape, axis);
  const ops::FakeSteps& steps = fake.steps;
  const bool fits = steps.zero_point == 0 && steps.low >= -128 && steps.high <= 127;
  const bool of_channels = fake.scales.size() == static_cast<size_t>(walk.channels) &&
                           (steps.axis == axis || walk.channels == 1);
  if (!fits || (fake.scales.size() != 1 && !of_channels)) return std::nullopt;
  QuantizedWeights made{.weight = {}, .scales = fake.scales, .bias = {}};
  made.scales.resize(static_cast<size_t>(walk.channels), fake.scales[0]);
  const std::vector<float> values = data.data->floats();
  for (size_t i = 0; i < values.size(); ++i) {
    const float scale = made.scales[walk.of(static_cast<int64_t>(i))];
    made.weight.push_back(static_cast<int8_t>(fake_integer(values[i], scale, steps)));
  }
  return made;
}

class Conversion {
 public:
  Conversion(const ir::Graph& from, const Outline& outline,
             const std::map<int, ActivationScale>& scales, const QuantizeModelOptions& options)
      : from_(from),
        outline_(outline),
        scales_(scales),
        options_(options),
        consumers_(from.consumers()),
        real_(from.values.size(), -1),
        int8_(from.values.size(), -1),
        absorbed_(from.nodes.size(), 0),
        of_parameters_(of_parameters(from)),
        to_int8_(ir::quantize_op()),
        to_f32_(ir::dequantize_op()) {
    made_.graph.layers = from.layers;
    made_.on_int8.resize(from.nodes.size(), 0);
  }

  Converted run() && {
    add_inputs();
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      // What depends on parameters alone is added where it is read.
      if (absorbed_[n] != 0 || of_parameters_[n] != 0) continue;
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
    for (size_t id = 0; id < int8_.size(); ++id) {
      if (int8_[id] >= 0)
        made_.scales.emplace(static_cast<int>(id), scale_of(to().value(int8_[id])));
    }
    return std::move(made_);
  }

 private:
  ir::Graph& to() { return made_.graph; }

  static ActivationScale scale_of(const Value& int8) {
    const Quantization& q = *int8.quantization();
    return {q.scales[0], q.zero_points.empty() ? 0 : q.zero_points[0]};
  }

  // Inputs and labels in their order.
  void add_inputs() {
    for (size_t id = 0; id < from_.values.size(); ++id) {
      const ir::ValueData& data = from_.values[id];
      const auto known = scales_.find(static_cast<int>(id));
      if (data.role == ir::Role::input && options_.int8_inputs && known != scales_.end()) {
        const ActivationScale chosen = known->second;
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
    } else if (const ir::Node* const producer = from_.producer_of(id); producer != nullptr) {
      copy(*producer);  // sets what is known
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
    if (has_values(data)) {
      return known_values(id, id, quantizing::scale_of(joined({}, data.data->floats())));
    }
    if (const std::optional<FakeNode> fake = fake_of(id)) {
      if (has_values(from_.data(fake->x))) return known_values(id, fake->x, one_scale(*fake));
      return in_steps(id, fake->x, one_scale(*fake));
    }
    const auto chosen = scales_.find(id);
    if (chosen == scales_.end()) return {};
    return in_steps(id, id, chosen->second);
  }

  // The node that computes a value by rounding to the steps of int8.
  std::optional<FakeNode> fake_of(int id) const {
    const ir::Node* const producer = from_.producer_of(id);
    if (producer == nullptr) return std::nullopt;
    std::optional<FakeNode> fake = fake_node(from_, *producer);
    if (!fake || !fake->is_int8_activation()) return std::nullopt;
    return fake;
  }
  static ActivationScale one_scale(const FakeNode& fake) {
    return {fake.scales[0], static_cast<int32_t>(fake.steps.zero_point)};
  }

  // The int8 form of a value, of this scale: x, which is the value before it is rounded.
  Value in_steps(int id, int x, const ActivationScale& chosen) {
    int& known = int8_[static_cast<size_t>(id)];
    const int of_x = int8_[static_cast<size_t>(x)];
    if (of_x >= 0) {
      const ActivationScale has = scale_of(to().value(of_x));
      if (has.scale == chosen.scale && has.zero_point == chosen.zero_point) {
        known = of_x;
        return to().value(known);
      }
    }
    const ir::Attrs attrs = to_int8_.quantized.to_int8(static_cast<double>(chosen.scale),
                                                       chosen.zero_point, options_.requantization);
    known = to().add1(to_int8_, attrs, {real(x)}).id();
    return to().value(known);
  }

  // A parameter or constant as an activation: int8 numbers of one scale.
  Value known_values(int id, int source, const ActivationScale& chosen) {
    const ir::ValueData& data = from_.data(source);
    const ops::FakeSteps steps{.zero_point = chosen.zero_point};
    std::vector<int8_t> integers;
    for (const float value : data.data->floats()) {
      integers.push_back(static_cast<int8_t>(fake_integer(value, chosen.scale, steps)));
    }
    const Value made = parameter(source, Array(std::move(integers), data.type.shape),
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

  // The integers of weight and bias, the weight as the old graph has it; none: they were trained in
  // steps that int8 does not have.
  std::optional<QuantizedWeights> integers_of(const KnownWeights& known, float input_scale) const {
    const ir::ValueData& data = from_.data(known.weight);
    std::vector<float> bias;
    if (known.bias >= 0) bias = from_.data(known.bias).data->floats();
    if (known.weight_steps < 0) {
      return quantized_weights(data.data->floats(), data.type.shape, known.layout.channels, bias,
                               input_scale);
    }
    const auto node = static_cast<size_t>(known.weight_steps);
    const std::optional<FakeNode> fake = fake_node(from_, from_.nodes[node]);
    if (!fake) return std::nullopt;
    std::optional<QuantizedWeights> made = trained_weights(data, known.layout.channels, *fake);
    if (!made) return std::nullopt;
    for (size_t k = 0; k < bias.size(); ++k) {
      const float unit = made->scales[k % made->scales.size()] * input_scale;
      made->bias.push_back(static_cast<int32_t>(fake_integer(bias[k], unit, ops::kBiasSteps)));
    }
    return made;
  }

  // Adds weight and bias on int8 to the inputs; a text: why there are none.
  std::string add_weights(std::vector<Value>& inputs, const KnownWeights& known) {
    std::optional<QuantizedWeights> made = integers_of(known, inputs[0].quantization()->scales[0]);
    if (!made) return "its weights were trained in steps that int8 does not have";
    Shape shape = from_.type(known.weight).shape;
    int axis = known.layout.channels;
    if (known.layout.transposed) {
      made->weight = transposed(made->weight, shape[0], shape[1]);
      shape = {shape[1], shape[0]};
      axis = 1 - axis;
    }
    inputs[static_cast<size_t>(known.layout.weight)] = parameter(
        known.weight, Array(std::move(made->weight), shape),
        {.scales = std::move(made->scales), .axis = axis}, from_.data(known.weight).trainable);
    if (known.bias < 0) return "";
    const auto count = static_cast<int64_t>(made->bias.size());
    inputs[static_cast<size_t>(known.layout.bias)] = parameter(
        known.bias, Array(std::move(made->bias), {count}), {}, from_.data(known.bias).trainable);
    return "";
  }

  // The inputs of a node on int8; a text: why there are none.
  std::string inputs_of(const ir::Node& node, std::vector<Value>& inputs) {
    inputs.resize(node.inputs.size());
    if (node.op->quantized.weights != nullptr) {
      const std::optional<KnownWeights> known = known_weights(from_, node);
      if (!known) return "its weights are computed, or are no weights of a layer";
      inputs[0] = int8(node.inputs[0]);
      if (!inputs[0]) return "the range of its input is not known";
      return add_weights(inputs, *known);
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
    if (ops::fake_steps_of(node)) {
      if (!fake_of(node.outputs[0])) return "its steps are not those of int8";
      (void)int8(node.outputs[0]);
      return "";
    }
    if (rule.build == nullptr) return "it has no int8 form";
    int clamp = outline_.clamp[n];
    int result = clamp < 0 ? node.outputs[0] : from_.nodes[static_cast<size_t>(clamp)].outputs[0];
    const auto scale = scales_.find(result);
    if (rule.rescales && scale == scales_.end()) return "the range of its result is not known";
    std::vector<Value> built;
    try {
      std::vector<Value> inputs;
      std::string reason = inputs_of(node, inputs);
      if (!reason.empty()) return reason;
      const ActivationScale chosen = scale == scales_.end() ? ActivationScale() : scale->second;
      built = rule.build({*node.op, node.attrs, inputs, static_cast<double>(chosen.scale),
                          chosen.zero_point, options_.requantization});
    } catch (const Error& error) {
      return error.message();
    }
    // The rounding after an op that keeps the scale of its input may be to other steps.
    if (clamp >= 0 && !rule.rescales && !has_scale(built[0], scale)) {
      clamp = -1;
      result = node.outputs[0];
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
    made_.on_int8[n] = 1;
    if (node.op->memory.views.empty() && is_per_sample(from_.type(result))) {
      add_layer(node, result, built[0]);
    }
    return "";
  }

  bool has_scale(const Value& int8, std::map<int, ActivationScale>::const_iterator wanted) const {
    if (wanted == scales_.end()) return false;
    const ActivationScale has = scale_of(int8);
    return has.scale == wanted->second.scale && has.zero_point == wanted->second.zero_point;
  }

  void add_layer(const ir::Node& node, int result, const Value& built) {
    const ActivationScale has = scale_of(built);
    std::string op = to().producer_of(built.id())->op->name;
    std::string name = name_of(node, op);
    made_.layers.push_back({{.name = std::move(name),
                             .op = std::move(op),
                             .scale = static_cast<double>(has.scale),
                             .zero_point = has.zero_point},
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
  const std::map<int, ActivationScale>& scales_;
  const QuantizeModelOptions& options_;
  std::vector<std::vector<int>> consumers_;
  std::vector<int> real_;  // by old value: the new one of its own type; -1: there is none yet
  std::vector<int> int8_;  // likewise in int8
  std::vector<char> absorbed_;
  std::vector<char> of_parameters_;
  std::map<std::string, int> unnamed_;
  const ir::OpDef& to_int8_;
  const ir::OpDef& to_f32_;
  Converted made_;
};

}  // namespace

Converted convert(const ir::Graph& graph, const Outline& outline,
                  const std::map<int, ActivationScale>& scales,
                  const QuantizeModelOptions& options) {
  return Conversion(graph, outline, scales, options).run();
}

void require_weighted(const Converted& made, const char* where) {
  if (made.weighted > 0) return;
  std::string why;
  for (const FloatLayer& layer : made.float_layers) {
    if (why.empty()) why = fmt::format("; {} ({}): {}", layer.name, layer.op, layer.reason);
  }
  throw Error(where, "no layer with weights has an int8 form: there is nothing to quantize" + why);
}

}  // namespace thimble::quantizing
