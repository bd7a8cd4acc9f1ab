#include "ops/families/quantized/int8_errors.h"

#include <thimble/ops/activation_bits.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/reshape.h>

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "ir/own_constant.h"
#include "ir/rewrite.h"
#include "ops/families/binary/binary.h"
#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/reduction/sum.h"
#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/unary.h"

namespace thimble::ops {
namespace {

// The gradient of a layer's sums as it follows from a stored error: values of the graph, -1 for
// none.
struct SumsOfError {
  int e = -1;
  int scale = -1;
  int factors = -1;  // a constant; -1: `factor`
  double factor = 1.0;
  int bits = -1;
};

// What is stored as int8: a gradient that a node computes, and another one that it is added to.
struct StoredGradient {
  const ir::Node* made = nullptr;  // null: not of a kind that has an int8 form
  const ir::Node* add = nullptr;   // of the op that adds an error; may be none
};

class Int8Errors {
 public:
  explicit Int8Errors(const ir::Graph& graph) : graph_(graph), read_once_(graph.read_once()) {}

  // e is -1 where the value is no such gradient.
  [[nodiscard]] SumsOfError sums(int id) const {
    SumsOfError of;
    const int64_t channels = last_axis(id);
    id = behind_views(id);
    if (const ir::Node* const product = graph_.producer_of(id, product_op()); product != nullptr) {
      of.factors = product->input(1);
      const bool fits = graph_.data(of.factors).role == ir::Role::constant &&
                        graph_.type(of.factors).shape == Shape{last_axis(id)};
      if (!fits) return {};
      id = behind_views(product->input(0));
    } else if (const ir::Node* const linear = graph_.producer_of(id, linear_op());
               linear != nullptr) {
      const auto& attrs = linear->attrs.as<AffineAttrs>();
      if (attrs.shift != 0.0) return {};
      of.factor = attrs.scale;
      id = behind_views(linear->input(0));
    }
    const ir::Node* const mask = graph_.producer_of(id, masking_op());
    if (mask != nullptr && mask->attrs.as<GradByBitsAttrs>().slope == 0.0) {
      of.bits = mask->input(1);
      id = behind_views(mask->input(0));
    }
    const ir::Node* const load = graph_.producer_of(id, *readers_of_errors().load);
    if (load == nullptr || last_axis(id) != channels) return {};
    of.e = load->input(0);
    of.scale = load->input(1);
    return of;
  }

  // What a node that stores an error stores.
  [[nodiscard]] StoredGradient stored(const ir::Node& node) const {
    if (node.op != &int8_error_of()) return {};
    StoredGradient found;
    int id = only_behind_views(node.input(0));
    found.add = id < 0 ? nullptr : graph_.producer_of(id, *readers_of_errors().add);
    if (found.add != nullptr) id = only_behind_views(found.add->input(0));
    if (id < 0) return {};
    const ir::Node* const made = graph_.producer_of(id);
    if (made == nullptr) return {};
    const bool is_layer =
        made->op == &quantized_input_grad_op() || made->op == &quantized_depthwise_input_grad_op();
    const bool is_scaled =
        made->op == &product_op() || made->op == &linear_op() || made->op == &masking_op();
    if (sums(is_layer ? made->input(0) : id).e < 0 || !(is_layer || is_scaled)) return {};
    found.made = made;
    return found;
  }

 private:
  static const ir::StoredError& readers_of_errors() {
    return *int8_error_of().gradient.stored_error;
  }

  // The value whose bytes a value has.
  [[nodiscard]] int behind_views(int id) const {
    for (const ir::Node* node = graph_.producer_of(id); node != nullptr;
         node = graph_.producer_of(id)) {
      if (node->op->memory.views.empty() || node->outputs.size() != 1) break;
      id = node->input(node->op->memory.views[0].in);
    }
    return id;
  }
  // The same where nothing else reads any of them, else -1.
  [[nodiscard]] int only_behind_views(int id) const {
    const int last = behind_views(id);
    for (;;) {
      if (read_once_[static_cast<size_t>(id)] == 0) return -1;
      if (id == last) return id;
      const ir::Node& node = *graph_.producer_of(id);
      id = node.input(node.op->memory.views[0].in);
    }
  }

  [[nodiscard]] int64_t last_axis(int id) const {
    const Shape& shape = graph_.type(id).shape;
    return shape.rank() == 0 ? 1 : shape[-1];
  }

  const ir::Graph& graph_;
  std::vector<char> read_once_;  // by value
};

// Builds the nodes that read and write int8.
class Int8ErrorWriter {
 public:
  Int8ErrorWriter(const ir::Graph& graph, const Int8Errors& errors)
      : graph_(graph), errors_(errors), to_(graph) {}

  // Replaces a node that reads the gradient of sums; false: it is of another kind.
  bool replace_reader(const ir::Node& node) {
    const Int8ErrorGradients ops = int8_error_gradients();
    const bool is_weight = node.op == &quantized_weight_grad_op();
    const bool is_bias = node.op == &broadcast_sum_op();
    if (!is_weight && !is_bias) return false;
    const int sums = node.input(is_weight ? 1 : 0);
    const Shape& shape = graph_.type(sums).shape;
    const bool fits =
        is_weight || (shape.rank() >= 1 && graph_.type(node.outputs[0]).shape == Shape{shape[-1]});
    const SumsOfError from = errors_.sums(sums);
    if (from.e < 0 || !fits) return false;
    std::vector<Value> inputs = error_inputs(from, shape);
    inputs.push_back(bits_of(from, shape));
    if (is_weight) inputs.insert(inputs.begin(), to_.map(node.input(0)));
    to_.graph().reopen_layer(node.layer);
    to_.replace(node, to_.graph().add(is_weight ? *ops.weight : *ops.bias,
                                      is_weight ? node.attrs : ir::Attrs(), inputs));
    to_.graph().end_layer();
    return true;
  }

  // Replaces a node that stores a gradient by one that computes it, too.
  void replace_stored(const ir::Node& node, const StoredGradient& of) {
    const Int8ErrorGradients ops = int8_error_gradients();
    const bool is_layer = of.made->op == &quantized_input_grad_op() ||
                          of.made->op == &quantized_depthwise_input_grad_op();
    const int sums = is_layer ? of.made->input(0) : of.made->outputs[0];
    const Shape& shape = graph_.type(sums).shape;
    const Shape& result = graph_.type(of.made->outputs[0]).shape;
    const SumsOfError from = errors_.sums(sums);
    std::vector<Value> inputs = error_inputs(from, shape);
    if (is_layer) inputs.push_back(to_.map(of.made->input(1)));
    inputs.push_back(bits_of(from, shape));
    if (of.add != nullptr) {
      inputs.push_back(shaped(to_.map(of.add->input(1)), result));
      inputs.push_back(to_.map(of.add->input(2)));
    }
    to_.graph().reopen_layer(of.made->layer);
    std::vector<Value> both = to_.graph().add(is_layer ? *ops.input : *ops.scale,
                                              is_layer ? of.made->attrs : ir::Attrs(), inputs);
    to_.graph().end_layer();
    both[0] = shaped(both[0], graph_.type(node.outputs[0]).shape);
    to_.replace(node, both);
  }

  void copy(const ir::Node& node) { to_.copy(node); }
  ir::Graph finish() { return std::move(to_).finish(); }

 private:
  static Value shaped(Value x, const Shape& shape) {
    return x.shape() == shape ? x : reshape(x, shape);
  }

  Value bits_of(const SumsOfError& of, const Shape& shape) {
    return of.bits < 0 ? Value() : shaped(to_.map(of.bits), shape);
  }

  std::vector<Value> error_inputs(const SumsOfError& of, const Shape& shape) {
    const auto factor = static_cast<float>(of.factor);
    const Value factors = of.factors >= 0
                              ? to_.map(of.factors)
                              : ir::own_constant(to_.graph(), fmt::format("@factor_{}", factor),
                                                 Array(std::vector{factor}, {1}));
    return {shaped(to_.map(of.e), shape), to_.map(of.scale), factors};
  }

  const ir::Graph& graph_;
  const Int8Errors& errors_;
  ir::Rewriter to_;
};

}  // namespace

ir::Graph with_int8_errors(const ir::Graph& graph) {
  const Int8Errors errors(graph);
  // By the node where the int8 form takes its place: as early as its inputs are there, because it
  // ends the life of what it reads.
  std::map<const ir::Node*, const ir::Node*> places;
  std::map<const ir::Node*, StoredGradient> found;
  for (const ir::Node& node : graph.nodes) {
    const StoredGradient one = errors.stored(node);
    if (one.made == nullptr) continue;
    found.emplace(&node, one);
    places.emplace(one.add != nullptr ? one.add : one.made, &node);
  }
  Int8ErrorWriter writer(graph, errors);
  bool is_changed = false;
  for (const ir::Node& node : graph.nodes) {
    const auto place = places.find(&node);
    if (place != places.end()) {
      writer.replace_stored(*place->second, found.at(place->second));
      is_changed = true;  // the f32 form is copied for what may lie between, and nothing reads it
    }
    if (found.count(&node) > 0) continue;
    if (writer.replace_reader(node)) {
      is_changed = true;
    } else {
      writer.copy(node);
    }
  }
  return is_changed ? writer.finish() : graph;
}

}  // namespace thimble::ops
