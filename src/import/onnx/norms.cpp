// Normalizations.
#include <thimble/ops.h>

#include <algorithm>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

// Running statistics are kept, but not trained.
Value statistic(Node& node, size_t i) {
  const Item& item = node.item(i);
  if (!item.weight || item.weight->made || node.importer().is_function()) return node.value(i);
  const Value made = node.value(i);
  ir::ValueData& data = node.graph().values[static_cast<size_t>(made.id())];
  if (data.role == ir::Role::parameter) data.role = ir::Role::state;
  return made;
}

// Training on this batch, as the file describes it, within a function: nothing is kept.
void batch_norm_once(Node& node, Value x, const Order& order, double epsilon, double momentum) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i + 1 < x.shape().rank(); ++i) axes.push_back(i);
  node.give(0, batch_norm(x, node.value(1), node.value(2), {}, {}, {.epsilon = epsilon}), order);
  const auto moved = [&](size_t input, Value now) {
    return node.value(input) * momentum + now * (1.0 - momentum);
  };
  if (node.gives(1)) node.give(1, moved(3, mean(x, {.axes = axes})));
  if (node.gives(2)) node.give(2, moved(4, variance(x, {.axes = axes, .correction = 0.0})));
}

void batch_normalization(Node& node) {
  node.require(node.rank(0) >= 2, "expected [N, C, ...]");
  const Order order = channels_last(node.rank(0));
  const Value x = node.value(0, order);
  const double epsilon = node.number("epsilon", 1e-5);
  const double momentum = node.number("momentum", 0.9);
  if (node.importer().is_function()) {
    if (node.integer("training_mode", 0) != 0) {
      return batch_norm_once(node, x, order, epsilon, momentum);
    }
    node.give(batch_norm_inference(x, node.value(1), node.value(2), node.value(3), node.value(4),
                                   {.epsilon = epsilon}),
              order);
    return;
  }
  const Value weight = node.optional(1);
  const Value bias = node.optional(2);
  // Models that are no ONNX files may leave out weights and statistics, and freeze the latter.
  if (!node.has(3))
    return node.give(batch_norm(x, weight, bias, {}, {}, {.epsilon = epsilon}), order);
  const Value mean = statistic(node, 3);
  const Value variance = statistic(node, 4);
  if (node.integer("frozen", 0) != 0) {
    return node.give(batch_norm_inference(x, weight, bias, mean, variance, {.epsilon = epsilon}),
                     order);
  }
  node.give(
      batch_norm(x, weight, bias, mean, variance, {.momentum = 1.0 - momentum, .epsilon = epsilon}),
      order);
  // The statistics that training_mode gives are kept in those of the graph.
  for (const size_t i : {size_t{1}, size_t{2}}) node.give(i, node.item(i + 2));
}

bool is_all(const Item& item, float number) {
  if (!item.known || item.known->dtype() != DType::f32) return false;
  const std::span<const float> all = item.known->as<float>();
  return std::all_of(all.begin(), all.end(), [&](float x) { return x == number; });
}

// Groups of channels as the channels of a reshaped image: PyTorch's group normalization.
bool as_group_norm(Node& node) {
  Item item = node.item(0);
  if (!item.flattened || item.rank() != 3 || !is_all(node.item(1), 1.0F) ||
      !is_all(node.item(2), 0.0F)) {
    return false;
  }
  const Shape& image = item.flattened->image;
  const Shape shape = item.shape();
  if (image[0] != shape[0] || shape[1] < 1 || image[1] % shape[1] != 0 ||
      item.flattened->order != channels_last(image.rank())) {
    return false;
  }
  const Value x = reshape(item.value, ordered(image, item.flattened->order));
  const Value y =
      group_norm(x, {}, {}, {.groups = shape[1], .epsilon = node.number("epsilon", 1e-5)});
  item.value = reshape(y, shape);
  node.give(0, std::move(item));
  return true;
}

void instance_normalization(Node& node) {
  if (as_group_norm(node)) return;
  node.require(node.rank(0) >= 2, "expected [N, C, ...]");
  const Order order = channels_last(node.rank(0));
  node.give(instance_norm(node.value(0, order), node.optional(1), node.optional(2), {}, {},
                          {.epsilon = node.number("epsilon", 1e-5)}),
            order);
}

void group_normalization(Node& node) {
  node.require(node.rank(0) >= 2, "expected [N, C, ...]");
  const Order order = channels_last(node.rank(0));
  const Value x = node.value(0, order);
  const int64_t groups = node.integer("num_groups", 1);
  const int64_t channels = x.shape()[-1];
  node.require(groups >= 1 && channels % groups == 0, "its groups do not divide the channels");
  const auto of_channels = [&](size_t i) {
    if (!node.has(i)) return Value();
    Value each = node.value(i);
    if (each.shape() == Shape{channels}) return each;
    // Before opset 21 there was one number a group.
    each = broadcast_to(reshape(each, {groups, 1}), {groups, channels / groups});
    return reshape(each, {channels});
  };
  node.give(group_norm(x, of_channels(1), of_channels(2),
                       {.groups = groups, .epsilon = node.number("epsilon", 1e-5)}),
            order);
}

// The number of last dimensions from the axis on, and whether a factor has their shape.
int64_t last_dims(const Node& node) {
  const int rank = node.rank(0);
  return rank - node.axis_of(node.integer("axis", -1), rank);
}

bool fits(const Node& node, size_t i, int64_t dims) {
  if (!node.has(i)) return true;
  const Shape x = node.shape(0);
  const std::vector<int64_t> tail(x.dims().end() - dims, x.dims().end());
  return node.shape(i) == Shape(tail);
}

void layer_normalization(Node& node) {
  const int64_t dims = last_dims(node);
  const double epsilon = node.number("epsilon", 1e-5);
  const Value x = node.value(0);
  const bool whole = fits(node, 1, dims) && fits(node, 2, dims);
  Value y =
      whole ? layer_norm(x, node.optional(1), node.optional(2), {.dims = dims, .epsilon = epsilon})
            : layer_norm(x, {}, {}, {.dims = dims, .epsilon = epsilon});
  if (!whole) {
    y = y * node.value(1);
    if (node.has(2)) y = y + node.value(2);
  }
  node.give(y);
  std::vector<int64_t> axes;
  for (int64_t i = 1; i <= dims; ++i) axes.push_back(-i);
  if (node.gives(1)) node.give(1, mean(x, {.axes = axes, .keepdims = true}));
  if (node.gives(2)) {
    node.give(2, rsqrt(variance(x, {.axes = axes, .keepdims = true, .correction = 0.0}) + epsilon));
  }
}

void rms_normalization(Node& node) {
  const int64_t dims = last_dims(node);
  const double epsilon = node.number("epsilon", 1e-5);
  const Value x = node.value(0);
  if (fits(node, 1, dims)) {
    node.give(rms_norm(x, node.value(1), {.dims = dims, .epsilon = epsilon}));
  } else {
    node.give(rms_norm(x, {}, {.dims = dims, .epsilon = epsilon}) * node.value(1));
  }
}

void lp_normalization(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  const int axis = node.axis_of(node.integer("axis", -1), static_cast<int>(order.size()));
  node.give(normalize(x, {.axis = inverse(order)[static_cast<size_t>(axis)],
                          .p = static_cast<double>(node.integer("p", 2))}),
            order);
}

void mean_variance_normalization(Node& node) {
  constexpr double kEpsilon = 1e-9;
  Order order;
  const Value x = node.stored(0, order);
  std::vector<int64_t> axes = node.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  std::vector<int64_t> places;
  for (const int64_t axis : axes) {
    places.push_back(
        inverse(order)[static_cast<size_t>(node.axis_of(axis, static_cast<int>(order.size())))]);
  }
  const Value centered = x - mean(x, {.axes = places, .keepdims = true});
  const Value deviation =
      standard_deviation(x, {.axes = places, .keepdims = true, .correction = 0.0});
  node.give(centered / (deviation + kEpsilon), order);
}

void local_response_normalization(Node& node) {
  node.require(node.rank(0) >= 2, "expected [N, C, ...]");
  const int64_t size = node.integer("size", 1);
  node.require(size % 2 == 1, "thimble has windows of an odd number of channels alone");
  const Order order = channels_last(node.rank(0));
  node.give(local_response_norm(node.value(0, order), {.size = size,
                                                       .alpha = node.number("alpha", 1e-4),
                                                       .beta = node.number("beta", 0.75),
                                                       .k = node.number("bias", 1.0)}),
            order);
}

}  // namespace

void add_norms(Conversions& table) {
  table["BatchNormalization"] = {batch_normalization, false};
  table["InstanceNormalization"] = {instance_normalization, false};
  table["GroupNormalization"] = {group_normalization, false};
  table["LayerNormalization"] = {layer_normalization, false};
  table["RMSNormalization"] = {rms_normalization, false};
  table["LpNormalization"] = {lp_normalization, false};
  table["MeanVarianceNormalization"] = {mean_variance_normalization, false};
  table["LRN"] = {local_response_normalization, false};
}

}  // namespace thimble::importer::onnx
