// Copies of layers within a model: backbones, and steps of a recurrence.
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "ml_train/model_node.h"

namespace thimble::ml_train {
namespace {

using ml::train::ReferenceLayersType;

constexpr Property kRecurrentBlock[] = {
    {"unroll_for", Kind::positive, "1"},
    {"recurrent_input", Kind::connections, nullptr, "", 0, true},
    {"recurrent_output", Kind::connections, nullptr, "", 0, true},
    {"as_sequence", Kind::names},
    {"input_is_sequence", Kind::names},
    {"dynamic_time_seq", Kind::boolean, "false", "", 0, false, "the number of steps is fixed"},
};

struct Reference {
  std::shared_ptr<LayerNode> layer;
  std::string name;
  std::vector<Connection> inputs;
};

[[noreturn]] void fail(const std::string& message) {
  throw std::invalid_argument("[reference layers] " + message);
}

std::vector<std::string> lowered(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(lower(without_blanks(name)));
  return result;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Copies {
 public:
  Copies(const std::vector<std::shared_ptr<ml::train::Layer>>& reference, const std::string& scope,
         const std::vector<std::string>& inputs, const std::vector<std::string>& starts,
         const std::vector<std::string>& ends)
      : scope_(lower(scope)), starts_(lowered(starts)), ends_(lowered(ends)) {
    for (const std::string& input : lowered(inputs)) inputs_.push_back(parse_connection(input));
    read(reference);
    select();
  }

  // step: appended to names; empty: none. Each layer with its inputs renamed.
  void add(const std::string& step, const std::map<std::string, std::vector<Connection>>& replaced,
           const std::string& weights_of,
           const std::function<void(std::shared_ptr<LayerNode>)>& add) const {
    for (const Reference& from : references_) {
      auto copy = std::make_shared<LayerNode>(from.layer->kind(), std::vector<std::string>());
      copy->props() = from.layer->props();
      copy->props().set("name", scope_ + "/" + from.name + step);
      std::vector<Connection> inputs;
      for (const Connection& input : from.inputs)
        inputs.push_back({scope_ + "/" + input.layer + step, input.index});
      if (is_start(from) && !inputs_.empty()) inputs = inputs_of_start(from.name);
      const auto other = replaced.find(from.name);
      if (other != replaced.end()) {
        for (size_t i = 0; i < other->second.size(); ++i) {
          if (other->second[i].layer.empty()) continue;
          if (inputs.size() <= i) inputs.resize(i + 1);
          inputs[i] = other->second[i];
        }
      }
      set_inputs(*copy, inputs);
      if (!weights_of.empty() && !copy->props().given("shared_from")) {
        copy->props().set("shared_from", scope_ + "/" + from.name + weights_of);
      } else if (copy->props().given("shared_from")) {
        copy->props().set("shared_from", scope_ + "/" + copy->props().choice("shared_from") + step);
      }
      add(std::move(copy));
    }
  }

  [[nodiscard]] const std::vector<std::string>& ends() const { return ends_; }
  [[nodiscard]] const std::string& scope() const { return scope_; }
  [[nodiscard]] const std::vector<Connection>& inputs() const { return inputs_; }
  void set_inputs_of_step(std::vector<Connection> inputs) { inputs_ = std::move(inputs); }
  [[nodiscard]] const Reference& find(const std::string& name) const {
    const auto found = std::find_if(references_.begin(), references_.end(),
                                    [&](const Reference& r) { return r.name == name; });
    if (found == references_.end()) fail("there is no layer \"" + name + "\"");
    return *found;
  }

 private:
  void read(const std::vector<std::shared_ptr<ml::train::Layer>>& reference) {
    for (const auto& layer : reference) {
      auto known = std::dynamic_pointer_cast<LayerNode>(layer);
      if (!known) fail("are the layers of createLayer alone");
      Reference made{known, known->props().choice("name"),
                     known->props().connections("input_layers")};
      if (made.name.empty()) fail("need names: a " + known->getType() + " has none");
      const bool is_source = known->props().given("input_shape") || makes_its_own(*known);
      if (made.inputs.empty() && !is_source && !references_.empty()) {
        made.inputs = {{references_.back().name, 0}};
      }
      references_.push_back(std::move(made));
    }
    if (references_.empty()) fail("there are none");
    if (starts_.empty()) starts_ = {references_.front().name};
    if (ends_.empty()) ends_ = {references_.back().name};
    for (const std::string& name : starts_) static_cast<void>(find(name));
    for (const std::string& name : ends_) static_cast<void>(find(name));
  }

  // Leaves what lies between the first and the last layers.
  void select() {
    std::set<std::string> wanted(ends_.begin(), ends_.end());
    for (bool grows = true; grows;) {
      grows = false;
      for (const Reference& r : references_) {
        if (!wanted.contains(r.name) || is_start(r)) continue;
        for (const Connection& from : r.inputs) grows = wanted.insert(from.layer).second || grows;
      }
    }
    std::erase_if(references_, [&](const Reference& r) { return !wanted.contains(r.name); });
  }

  [[nodiscard]] bool is_start(const Reference& r) const { return has(starts_, r.name); }

  [[nodiscard]] std::vector<Connection> inputs_of_start(const std::string& name) const {
    if (starts_.size() == 1 || starts_.size() != inputs_.size()) return inputs_;
    const auto at = std::find(starts_.begin(), starts_.end(), name) - starts_.begin();
    return {inputs_[static_cast<size_t>(at)]};
  }

  static void set_inputs(LayerNode& layer, const std::vector<Connection>& inputs) {
    if (inputs.empty()) return;
    layer.props().erase("input_shape");
    layer.props().set("input_layers", to_string(inputs));
  }

  std::string scope_;
  std::vector<std::string> starts_;
  std::vector<std::string> ends_;
  std::vector<Connection> inputs_;
  std::vector<Reference> references_;
};

class Unrolled {
 public:
  Unrolled(Copies& copies, const PropertySet& props,
           std::function<void(std::shared_ptr<LayerNode>)> add)
      : copies_(copies), props_(props), add_(std::move(add)), steps_(props.count("unroll_for")) {}

  void run() {
    const std::vector<Connection> to = props_.connections("recurrent_input");
    const std::vector<Connection> from = props_.connections("recurrent_output");
    if (steps_ > 4096) fail("unroll_for is at most 4096");
    if (to.size() != from.size()) fail("recurrent_input and recurrent_output pair up");
    const std::vector<Connection> outside = copies_.inputs();
    for (int64_t k = 0; k < steps_; ++k) {
      copies_.set_inputs_of_step(step_inputs(outside, k));
      std::map<std::string, std::vector<Connection>> replaced;
      for (size_t i = 0; i < to.size() && k > 0; ++i) {
        static_cast<void>(copies_.find(to[i].layer));
        auto& inputs = replaced[to[i].layer];
        inputs.resize(std::max(inputs.size(), static_cast<size_t>(to[i].index) + 1));
        inputs[static_cast<size_t>(to[i].index)] = {name(from[i].layer, k - 1), from[i].index};
      }
      copies_.add("/" + std::to_string(k), replaced, k > 0 ? "/0" : "", add_);
    }
    for (const std::string& end : copies_.ends()) put_result(end);
  }

 private:
  [[nodiscard]] std::string name(const std::string& layer, int64_t step) const {
    return copies_.scope() + "/" + layer + "/" + std::to_string(step);
  }

  // Of an input that is a sequence the step's row.
  std::vector<Connection> step_inputs(std::vector<Connection> inputs, int64_t k) {
    const std::vector<std::string> sequences = props_.names("input_is_sequence");
    for (Connection& input : inputs) {
      if (!has(sequences, input.layer)) continue;
      const std::string row = copies_.scope() + "/" + input.layer + "/row_" + std::to_string(k);
      add_(make_layer(
          "slice", {"name=" + row, "input_layers=" + to_string({input}), "axis=2",
                    "start_index=" + std::to_string(k + 1), "end_index=" + std::to_string(k + 2)}));
      input = {row, 0};
    }
    return inputs;
  }

  void put_result(const std::string& end) {
    std::string result = name(end, steps_ - 1);
    if (has(props_.names("as_sequence"), end)) {
      std::vector<Connection> all;
      for (int64_t k = 0; k < steps_; ++k) all.push_back({name(end, k), 0});
      result = copies_.scope() + "/" + end + "/concat_0";
      add_(make_layer("concat", {"name=" + result, "axis=2", "input_layers=" + to_string(all)}));
    }
    add_(make_layer("identity", {"name=" + copies_.scope() + "/" + end, "input_layers=" + result}));
  }

  Copies& copies_;
  const PropertySet& props_;
  std::function<void(std::shared_ptr<LayerNode>)> add_;
  int64_t steps_;
};

}  // namespace

void ModelNode::addWithReferenceLayers(
    const std::vector<std::shared_ptr<ml::train::Layer>>& reference, const std::string& scope,
    const std::vector<std::string>& input_layers, const std::vector<std::string>& start_layers,
    const std::vector<std::string>& end_layers, ReferenceLayersType type,
    const std::vector<std::string>& type_properties) {
  if (compiled_) throw std::runtime_error("[model] addWithReferenceLayers comes before compile");
  Copies copies(reference, scope, input_layers, start_layers, end_layers);
  const auto add_layer = [this](std::shared_ptr<LayerNode> layer) { add(std::move(layer)); };
  if (type == ReferenceLayersType::BACKBONE) {
    if (!type_properties.empty()) fail("a backbone has no properties");
    copies.add("", {}, "", add_layer);
    return;
  }
  PropertySet props("recurrent", {kRecurrentBlock});
  props.set(type_properties);
  props.require_all();
  Unrolled(copies, props, add_layer).run();
}

}  // namespace thimble::ml_train
