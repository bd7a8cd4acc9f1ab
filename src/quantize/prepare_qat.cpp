#include <fmt/format.h>
#include <thimble/quantize.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ops/families/quantized/fake.h"
#include "passes/passes.h"
#include "quantize/convert.h"
#include "quantize/fake_nodes.h"
#include "quantize/observe.h"
#include "quantize/weights.h"

namespace thimble {
namespace {

using quantizing::ActivationScale;
using quantizing::Converted;
using quantizing::KnownWeights;
using quantizing::Outline;

constexpr const char* kPrepare = "prepare_qat";

// The gradient scale of Esser et al., 2020: numbers that share a scale, of one sample, and the
// largest distance of an integer from the zero point.
double gradient_scale(int64_t numbers, double most) {
  return 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(1, numbers)) * most);
}

double most_of(const ActivationScale& scale) {
  return std::max(127.0 - scale.zero_point, 128.0 + scale.zero_point);
}

int64_t numbers_of_a_sample(const Shape& shape) {
  int64_t count = 1;
  for (int axis = shape.rank() > 0 && shape[0] == kBatch ? 1 : 0; axis < shape.rank(); ++axis) {
    count *= shape[axis];
  }
  return count;
}

bool is_equal(const ActivationScale& a, const ActivationScale& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point;
}

// Builds the graph in steps beside the plan of the int8 graph.
class Preparation {
 public:
  Preparation(const ir::Graph& from, const Outline& outline, const Converted& plan, int weight_bits)
      : from_(from),
        outline_(outline),
        plan_(plan),
        weight_bits_(weight_bits),
        exact_(from.values.size(), -1),
        in_steps_(from.values.size(), -1),
        scale_(from.values.size(), -1) {
    to_.layers = from.layers;
  }

  ir::Graph run() && {
    for (size_t id = 0; id < from_.values.size(); ++id) {
      if (from_.values[id].producer < 0) exact_[id] = to_.copy_source(from_.values[id]).id();
    }
    std::vector<char> absorbed(from_.nodes.size(), 0);
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      if (absorbed[n] != 0) continue;
      const ir::Node& node = from_.nodes[n];
      to_.reopen_layer(node.layer);
      if (plan_.on_int8[n] != 0) {
        const int clamp = outline_.clamp[n];
        if (clamp >= 0) absorbed[static_cast<size_t>(clamp)] = 1;
        add_in_steps(
            node, clamp < 0 ? node.outputs[0] : from_.nodes[static_cast<size_t>(clamp)].outputs[0]);
      } else {
        copy(node);
      }
      to_.end_layer();
    }
    if (from_.loss) to_.loss = value(*from_.loss).id();
    for (const auto& [name, id] : from_.metrics) to_.metrics.emplace_back(name, value(id).id());
    for (const auto& [name, id] : from_.outputs) to_.outputs.emplace_back(name, value(id).id());
    return std::move(to_);
  }

 private:
  // What f32 layers read of an old value: itself, or what its int8 form stands for.
  Value value(int id) {
    const auto at = static_cast<size_t>(id);
    return to_.value(exact_[at] >= 0 ? exact_[at] : in_steps_[at]);
  }

  void copy(const ir::Node& node) {
    std::vector<Value> inputs;
    for (const int id : node.inputs) inputs.push_back(id < 0 ? Value() : value(id));
    const std::vector<Value> outputs = to_.add(*node.op, node.attrs, inputs);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      exact_[static_cast<size_t>(node.outputs[i])] = outputs[i].id();
    }
  }

  // The name of the scale of a node's result, after its layer.
  std::string name_of(const ir::Node& node) {
    if (node.layer >= 0) return from_.layers[static_cast<size_t>(node.layer)].name + ".scale";
    const std::string op = node.op->name;
    return fmt::format("{}_{}.scale", op, ++unnamed_[op]);
  }

  Value source_of(const std::string& name, std::vector<float> values, ir::Role role) {
    const Shape shape{static_cast<int64_t>(values.size())};
    const Value made = to_.source(quantizing::free_name(to_, name), {DType::f32, shape}, role,
                                  role == ir::Role::parameter ? init::ones() : Initializer());
    to_.values[static_cast<size_t>(made.id())].data = Array(std::move(values), shape);
    return made;
  }

  // A parameter of this name, and the scales that it makes, which are these at the start.
  Value learned(const std::string& name, const std::vector<float>& scales, double by) {
    const Value unit = source_of(name + "_unit", scales, ir::Role::constant);
    const Value ratio =
        source_of(name, std::vector<float>(scales.size(), 1.0F), ir::Role::parameter);
    return ops::trained_scale(ratio, unit, by);
  }

  // The old value is y in the steps of this scale.
  void round(int id, Value y, Value scale, int64_t parts = 1) {
    const auto at = static_cast<size_t>(id);
    const int64_t zero = plan_.scales.at(id).zero_point;
    in_steps_[at] = ops::in_steps(y, scale, {.zero_point = zero, .parts = parts}).id();
    scale_[at] = scale.id();
  }
  void round_learned(int id, Value y, const std::string& name) {
    const ActivationScale start = plan_.scales.at(id);
    const double by = gradient_scale(numbers_of_a_sample(y.shape()), most_of(start));
    round(id, y, learned(name, {start.scale}, by));
  }

  // What int8 layers read of an old value.
  Value in_steps(int id) {
    if (in_steps_[static_cast<size_t>(id)] < 0) {
      const ir::Node* const producer = from_.producer_of(id);
      round_learned(id, value(id),
                    producer == nullptr ? *from_.data(id).name + ".scale" : name_of(*producer));
    }
    return to_.value(in_steps_[static_cast<size_t>(id)]);
  }

  // Adds weight and bias in steps to the inputs.
  void add_weights(std::vector<Value>& inputs, const ir::Node& node, const KnownWeights& known) {
    const ir::ValueData& data = from_.data(known.weight);
    const int axis = known.layout.channels;
    std::vector<float> bias;
    if (known.bias >= 0) bias = from_.data(known.bias).data->floats();
    const float of_input = plan_.scales.at(node.inputs[0]).scale;
    const int most = quantizing::most_weight(weight_bits_);
    const std::vector<float> start =
        quantizing::weight_scales(data.data->floats(), quantizing::walk_of(data.type.shape, axis),
                                  bias, of_input, weight_bits_);
    const int64_t numbers = data.type.shape.elements() / static_cast<int64_t>(start.size());
    const Value scale =
        learned(*data.name + ".scale", start, gradient_scale(numbers, static_cast<double>(most)));
    inputs[static_cast<size_t>(known.layout.weight)] =
        ops::in_steps(value(known.weight), scale, {.low = -most, .high = most, .axis = axis});
    if (known.bias < 0) return;
    const Value input_scale = to_.value(scale_[static_cast<size_t>(node.inputs[0])]);
    inputs[static_cast<size_t>(known.layout.bias)] =
        ops::bias_in_steps(value(known.bias), input_scale, scale);
  }

  // The one scale of all inputs, if they have one; none: they have several.
  Value shared_scale(const ir::Node& node) {
    int shared = -1;
    for (const int id : node.inputs) {
      if (id < 0) continue;
      const int scale = scale_[static_cast<size_t>(id)];
      if (shared >= 0 && scale != shared) return {};
      shared = scale;
    }
    return to_.value(shared);
  }

  void add_in_steps(const ir::Node& node, int result) {
    const ir::QuantizeRule& rule = node.op->quantized;
    std::vector<Value> inputs(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool is_weight = rule.weights != nullptr && i > 0;
      if (node.inputs[i] >= 0 && !is_weight) inputs[i] = in_steps(node.inputs[i]);
    }
    if (rule.weights != nullptr) {
      add_weights(inputs, node, *quantizing::known_weights(from_, node));
    }
    // A clamp is the bounds of its result's integers.
    const bool clamps = rule.clamps != nullptr && rule.clamps(node.attrs);
    const std::vector<Value> outputs =
        clamps ? std::vector<Value>{inputs[0]} : to_.add(*node.op, node.attrs, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int id = i == 0 ? result : node.outputs[i];
      if (plan_.scales.count(id) == 0) {
        exact_[static_cast<size_t>(id)] = outputs[i].id();
      } else {
        add_result(node, id, outputs[i]);
      }
    }
  }

  // A result as its int8 form will round it.
  void add_result(const ir::Node& node, int id, Value y) {
    const ir::QuantizeRule& rule = node.op->quantized;
    const ActivationScale& start = plan_.scales.at(id);
    const Value shared = shared_scale(node);
    if (rule.rescales || !shared) return round_learned(id, y, name_of(node));
    if (!is_equal(start, plan_.scales.at(node.inputs[0]))) {  // a scale of the op's own
      return round(id, y, source_of(name_of(node), {start.scale}, ir::Role::constant));
    }
    const int64_t parts = ops::rounded_parts(node);
    if (parts > 0) return round(id, y, shared, parts);
    in_steps_[static_cast<size_t>(id)] = y.id();
    scale_[static_cast<size_t>(id)] = shared.id();
  }

  const ir::Graph& from_;
  const Outline& outline_;
  const Converted& plan_;
  int weight_bits_;
  ir::Graph to_;
  // By old value: the new one of its own numbers; in steps; and the scale of these. -1: none yet.
  std::vector<int> exact_;
  std::vector<int> in_steps_;
  std::vector<int> scale_;
  std::map<std::string, int> unnamed_;
};

}  // namespace

QatModel prepare_qat(const Graph& given, const data::Dataset& data,
                     const PrepareQatOptions& options) {
  if (options.weight_bits < 2 || options.weight_bits > quantizing::kWeightBits) {
    throw Error("weight_bits", fmt::format("expected 2 to 8, got {}", options.weight_bits));
  }
  const QuantizeModelOptions calibration{.calibration = options.calibration,
                                         .percentile = options.percentile,
                                         .samples = options.samples,
                                         .batch = options.batch,
                                         .threads = options.threads,
                                         .on_progress = options.on_progress};
  quantizing::check_options(calibration);
  quantizing::check_graph(given.ir(), kPrepare);
  const ir::Graph graph = quantizing::folded(given.ir());
  if (quantizing::is_prepared(graph)) {
    throw Error(kPrepare,
                "the graph is prepared already: train it, or take the one that it was "
                "made from");
  }
  const Outline outline = quantizing::outline_of(graph);
  const quantizing::Samples samples(graph, data, options.samples, options.batch);
  quantizing::Progress progress(calibration, quantizing::passes_of(calibration), samples.count());
  std::map<int, ActivationScale> scales;
  for (const auto& [id, range] : quantizing::observed_ranges(graph, outline.observed, samples,
                                                             calibration, progress, kPrepare)) {
    scales[id] = quantizing::even_scale_of(range);
  }
  Converted plan = convert(graph, outline, scales, calibration);
  quantizing::require_weighted(plan, kPrepare);
  QatModel made;
  made.graph.ir() =
      passes::remove_dead_code(Preparation(graph, outline, plan, options.weight_bits).run());
  made.float_layers = std::move(plan.float_layers);
  made.samples = samples.count();
  return made;
}

}  // namespace thimble
