#include <fmt/format.h>
#include <thimble/adapt.h>
#include <thimble/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string_view>

#include "ir/canonical.h"
#include "ir/function_def.h"
#include "ir/graph.h"

namespace thimble {
namespace {

// The weight of a layer, and what else has a number for each of its results.
struct Head {
  size_t node = 0;
  int weight = 0;  // number of the input
  int axis = 0;    // of the weight, that counts the results
};

// The largest number of new int8 weights: they may grow to four times their first size.
constexpr int64_t kLargestDrawn = 31;

// int8 numbers that are uniform from -kLargestDrawn to kLargestDrawn.
Array drawn_integers(const Shape& shape, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<int8_t> values(static_cast<size_t>(shape.elements()));
  for (int8_t& value : values) {
    const uint64_t drawn = generator() % (2 * kLargestDrawn + 1);
    value = static_cast<int8_t>(static_cast<int64_t>(drawn) - kLargestDrawn);
  }
  return Array(std::move(values), shape);
}

class Adapting {
 public:
  Adapting(const ir::Graph& from, const AdaptOptions& options)
      : from_(from), options_(options), to_(made_.ir()), ids_(from.values.size(), -1) {}

  Graph run() && {
    if (options_.loss.empty() && options_.label != AdaptOptions().label) {
      throw Error("adapt", "a label needs a loss that reads it; name one");
    }
    if (options_.loss.empty() && !options_.metrics.empty()) {
      throw Error("adapt", "metrics need a loss, whose label they share; name one");
    }
    if (options_.loss.empty() && options_.classes == 0 && !options_.output.empty()) {
      throw Error("adapt", "an output is chosen for a loss or a new head; name one of these, too");
    }
    const bool asks_output = !options_.loss.empty() || options_.classes > 0;
    const int output = asks_output ? output_id() : -1;
    find_needed();
    if (options_.classes > 0) head_ = head_of(output);
    to_.layers = from_.layers;
    for (size_t id = 0; id < from_.values.size(); ++id) {
      if (from_.values[id].producer < 0 && needed_[id] != 0) add_source(static_cast<int>(id));
    }
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      if (is_needed(from_.nodes[n])) add_node(n);
    }
    for (const auto& [name, id] : from_.outputs) to_.outputs.emplace_back(name, map(id).id());
    if (options_.loss.empty()) {
      if (from_.loss) to_.loss = map(*from_.loss).id();
      for (const auto& [name, id] : from_.metrics) to_.metrics.emplace_back(name, map(id).id());
    } else {
      add_loss(map(output));
    }
    for (const std::string& pattern : options_.freeze) made_.freeze(pattern);
    for (const std::string& pattern : options_.trainable) made_.unfreeze(pattern);
    return std::move(made_);
  }

 private:
  [[nodiscard]] Value map(int id) { return to_.value(id < 0 ? -1 : ids_[static_cast<size_t>(id)]); }

  [[nodiscard]] int output_id() const {
    if (from_.outputs.empty()) {
      throw Error("adapt", "the graph has no output that a loss could judge");
    }
    if (options_.output.empty() && from_.outputs.size() == 1) return from_.outputs[0].second;
    std::string names;
    for (const auto& [name, id] : from_.outputs) {
      if (name == options_.output) return id;
      names += (names.empty() ? "\"" : ", \"") + name + "\"";
    }
    throw Error(
        "adapt",
        options_.output.empty()
            ? fmt::format("the graph has {} outputs; choose one of {}", from_.outputs.size(), names)
            : fmt::format("there is no output \"{}\"; the graph has {}", options_.output, names));
  }

  // What the outputs need, and the loss and metrics that stay.
  void find_needed() {
    needed_.assign(from_.values.size(), 0);
    const auto need = [this](int id) { needed_[static_cast<size_t>(id)] = 1; };
    for (const auto& [name, id] : from_.outputs) need(id);
    if (options_.loss.empty()) {
      if (from_.loss) need(*from_.loss);
      for (const auto& [name, id] : from_.metrics) need(id);
    }
    need_inputs();
    // What moves the running statistics that are read.
    for (const ir::Node& node : from_.nodes) {
      for (const ir::Alias& update : node.op->memory.updates) {
        const int state = node.input(update.in);
        if (state >= 0 && needed_[static_cast<size_t>(state)] != 0) need(node.outputs[0]);
      }
    }
    need_inputs();
    // Inputs and parameters of the model stay, read or not; labels do where they are read.
    for (size_t id = 0; id < from_.values.size(); ++id) {
      const ir::ValueData& data = from_.values[id];
      if (data.producer < 0 && data.role == ir::Role::input) need(static_cast<int>(id));
    }
  }
  void need_inputs() {
    for (size_t n = from_.nodes.size(); n-- > 0;) {
      if (!is_needed(from_.nodes[n])) continue;
      for (const int id : from_.nodes[n].inputs) {
        if (id >= 0) needed_[static_cast<size_t>(id)] = 1;
      }
    }
  }
  [[nodiscard]] bool is_needed(const ir::Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [this](int id) { return needed_[static_cast<size_t>(id)] != 0; });
  }

  void add_source(int id) {
    const ir::ValueData& data = from_.data(id);
    const auto& q = data.type.quantization;
    if (!options_.f32_inputs || data.role != ir::Role::input || data.type.dtype != DType::i8 ||
        q == nullptr || q->scales.size() != 1) {
      ids_[static_cast<size_t>(id)] = to_.copy_source(data).id();
      return;
    }
    const Value real = to_.source(data.name, {DType::f32, data.type.shape}, ir::Role::input);
    const ir::OpDef& quantize = ir::quantize_op();
    const int64_t zero_point = q->zero_points.empty() ? 0 : q->zero_points[0];
    ids_[static_cast<size_t>(id)] =
        to_.add1(quantize,
                 quantize.quantized.to_int8(static_cast<double>(q->scales[0]), zero_point,
                                            Requantization::floating),
                 {real})
            .id();
  }

  void add_node(size_t n) {
    const ir::Node& node = from_.nodes[n];
    to_.reopen_layer(node.layer);
    std::vector<Value> inputs;
    for (const int id : node.inputs) inputs.push_back(map(id));
    if (head_ && head_->node == n) replace_weights(node, inputs);
    const std::vector<Value> outputs = to_.add(*node.op, node.attrs, inputs);
    to_.end_layer();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      ids_[static_cast<size_t>(node.outputs[i])] = outputs[i].id();
    }
  }

  [[nodiscard]] bool is_parameter(int id) const {
    return id >= 0 && from_.data(id).producer < 0 && from_.data(id).role == ir::Role::parameter;
  }

  // The weight of a node: of f32 as its op says, of int8 the parameter with a scale for each
  // result.
  [[nodiscard]] std::optional<Head> weights_of(size_t n) const {
    const ir::Node& node = from_.nodes[n];
    if (node.op->quantized.weights != nullptr) {
      std::vector<const ir::TensorType*> inputs;
      std::vector<ir::TensorType> outputs;
      for (const int id : node.inputs) inputs.push_back(id < 0 ? nullptr : &from_.type(id));
      for (const int id : node.outputs) outputs.push_back(from_.type(id));
      const auto layout = node.op->quantized.weights({node.attrs, inputs, outputs});
      if (!layout || !is_parameter(node.input(layout->weight))) return std::nullopt;
      return Head{n, layout->weight, layout->channels};
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      if (!is_parameter(id) || from_.type(id).dtype != DType::i8) continue;
      const auto& q = from_.type(id).quantization;
      if (q != nullptr && q->axis) return Head{n, static_cast<int>(i), *q->axis};
    }
    return std::nullopt;
  }

  // The last layer with weights that the output depends on.
  [[nodiscard]] std::optional<Head> head_of(int output) const {
    std::vector<char> before(from_.values.size(), 0);
    before[static_cast<size_t>(output)] = 1;
    for (size_t n = from_.nodes.size(); n-- > 0;) {
      const ir::Node& node = from_.nodes[n];
      if (std::none_of(node.outputs.begin(), node.outputs.end(),
                       [&](int id) { return before[static_cast<size_t>(id)] != 0; })) {
        continue;
      }
      if (const std::optional<Head> head = weights_of(n)) return head;
      for (const int id : node.inputs) {
        if (id >= 0) before[static_cast<size_t>(id)] = 1;
      }
    }
    throw Error("adapt", "no layer before the output has weights that could be replaced");
  }

  // New parameters for so many results, under the old names.
  void replace_weights(const ir::Node& node, std::vector<Value>& inputs) {
    const ir::ValueData& old = from_.data(node.input(head_->weight));
    const int64_t results = old.type.shape[head_->axis];
    const auto fan_in = static_cast<double>(old.type.shape.elements() / results);
    const double bound = 1.0 / std::sqrt(fan_in);  // as init::torch_default
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      if (!is_parameter(id)) continue;
      const bool is_weight = static_cast<int>(i) == head_->weight;
      const Shape& shape = from_.type(id).shape;
      if (!is_weight && (shape.rank() != 1 || shape[0] != results)) continue;
      ir::ValueData& data = to_.values[static_cast<size_t>(inputs[i].id())];
      std::vector<int64_t> sizes = shape.dims();
      sizes[static_cast<size_t>(is_weight ? head_->axis : 0)] = options_.classes;
      data.type.shape = Shape(sizes);
      data.trainable = true;
      data.data = {};
      data.init = init::uniform(-bound, bound);
      if (data.type.dtype == DType::f32) continue;
      data.init = init::zeros();
      data.data = Array(data.type.dtype, data.type.shape);
      if (!is_weight) continue;
      data.data = drawn_integers(data.type.shape, options_.seed);
      const auto scale = static_cast<float>(bound / kLargestDrawn);
      const Quantization q{
          .scales = std::vector<float>(static_cast<size_t>(options_.classes), scale),
          .axis = head_->axis};
      data.type.quantization = std::make_shared<const Quantization>(ir::canonical(q));
    }
  }

  // A function of a result and a label.
  struct Criterion {
    const ir::FunctionDef* function = nullptr;
    const ir::OpDef* op = nullptr;

    [[nodiscard]] const std::vector<ir::ArgDoc>& inputs() const {
      return function != nullptr ? function->inputs : op->signature.inputs;
    }
    [[nodiscard]] bool takes_classes() const {
      if (function == nullptr) return ir::taken_types(*op, 1).has(DType::i32);
      const auto rows = ir::type_rows(*function);
      return std::any_of(rows.begin(), rows.end(),
                         [](const auto& row) { return row[1].has(DType::i32); });
    }
    [[nodiscard]] Value of(ir::Graph& graph, Value result, Value label) const {
      std::vector<Value> values(inputs().size());
      values[0] = result;
      values[1] = label;
      if (function == nullptr) {
        return graph.add(*op, ir::Attrs::defaults(op->signature.attrs), values)[0];
      }
      const std::shared_ptr<void> settings =
          function->options.make != nullptr ? function->options.make() : nullptr;
      return function->build(values, settings.get())[0];
    }
  };

  [[nodiscard]] static bool takes_two(const std::vector<ir::ArgDoc>& inputs) {
    return inputs.size() >= 2 && std::all_of(inputs.begin() + 2, inputs.end(),
                                             [](const ir::ArgDoc& arg) { return arg.optional; });
  }
  [[nodiscard]] static Criterion criterion(const char* what, const std::string& name) {
    const ir::FunctionDef* const function = ir::find_function(name);
    const ir::OpDef* const op = ir::find_op(name);
    Criterion found;
    if (function != nullptr && !function->is_layer() && function->required.empty() &&
        takes_two(function->inputs)) {
      found.function = function;
    } else if (op != nullptr && ir::is_for_users(*op) && takes_two(op->signature.inputs)) {
      found.op = op;
    } else {
      throw Error("adapt",
                  fmt::format("there is no {} \"{}\": it must be a function of a result and "
                              "a label, such as {}",
                              what, name,
                              std::string(what) == "loss" ? "softmax_cross_entropy, mse or huber"
                                                          : "accuracy or f1_score"));
    }
    return found;
  }

  [[nodiscard]] const ir::Node* producer(int id) const {
    const int node = to_.data(id).producer;
    return node < 0 ? nullptr : &to_.nodes[static_cast<size_t>(node)];
  }

  // softmax_cross_entropy takes the softmax itself: of a softmax's result, what that is of.
  [[nodiscard]] Value judged(Value result) const {
    if (options_.loss != "softmax_cross_entropy") return result;
    const ir::Node* node = producer(result.id());
    if (node != nullptr && node->op == &ir::dequantize_op()) node = producer(node->input(0));
    if (node == nullptr || std::string_view(node->op->name) != "softmax") return result;
    const int64_t axis = node->attrs.as<SoftmaxOptions>().axis;
    const int rank = result.shape().rank();
    return axis == -1 || axis == rank - 1 ? to_.value(node->input(0)) : result;
  }

  void add_loss(Value output) {
    Value result = judged(output);
    if (result.dtype() == DType::i8 && result.quantization()) {
      result = to_.add1(ir::dequantize_op(), {}, {result});
    }
    const Criterion loss = criterion("loss", options_.loss);
    std::vector<int64_t> sample = result.shape().dims();
    if (!sample.empty()) sample.erase(sample.begin());
    const bool classes = loss.takes_classes();
    if (classes && !sample.empty()) sample.pop_back();
    const Value known = to_.find_source(options_.label);
    const Value label =
        known ? known
              : made_.label(options_.label, Shape(sample), classes ? DType::i32 : DType::f32);
    made_.minimize(loss.of(to_, result, label));
    for (const std::string& name : options_.metrics) {
      made_.metric(name, criterion("metric", name).of(to_, result, label));
    }
  }

  const ir::Graph& from_;
  const AdaptOptions& options_;
  Graph made_;
  ir::Graph& to_;
  std::vector<int> ids_;      // by old value; -1: it is left out
  std::vector<char> needed_;  // by old value
  std::optional<Head> head_;
};

}  // namespace

Graph adapt(const Graph& graph, const AdaptOptions& options) {
  return Adapting(graph.ir(), options).run();
}

}  // namespace thimble
