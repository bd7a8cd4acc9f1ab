// Activation functions with settings, and those over an axis.
#include <thimble/ops.h>

#include <cmath>
#include <numeric>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

// The input with its order kept.
template <class Function>
void mapped(Node& node, const Function& function) {
  Item item = node.item(0);
  if (!item.is_value()) {
    item = Item();
    item.value = node.stored(0, item.order);
  }
  item.value = function(item.value);
  node.give(0, std::move(item));
}

void leaky_relu_node(Node& node) {
  mapped(node, [&](Value x) { return leaky_relu(x, {.slope = node.number("alpha", 0.01)}); });
}
void elu_node(Node& node) {
  mapped(node, [&](Value x) { return elu(x, {.alpha = node.number("alpha", 1.0)}); });
}
void celu_node(Node& node) {
  mapped(node, [&](Value x) { return celu(x, {.alpha = node.number("alpha", 1.0)}); });
}

void selu_node(Node& node) {
  constexpr double kAlpha = 1.67326319217681884765625;
  constexpr double kGamma = 1.05070102214813232421875;
  const double alpha = node.number("alpha", kAlpha);
  const double gamma = node.number("gamma", kGamma);
  mapped(node, [&](Value x) {
    if (std::abs(alpha - kAlpha) < 1e-6 && std::abs(gamma - kGamma) < 1e-6) return selu(x);
    return elu(x, {.alpha = alpha}) * gamma;
  });
}

void hard_sigmoid_node(Node& node) {
  const double alpha = node.number("alpha", 0.2);
  const double beta = node.number("beta", 0.5);
  mapped(node, [&](Value x) {
    if (std::abs(alpha - 1.0 / 6.0) < 1e-7 && beta == 0.5) return hard_sigmoid(x);
    return clip(affine(x, {.scale = alpha, .shift = beta}));
  });
}

void softplus_node(Node& node) {
  mapped(node, [](Value x) { return softplus(x); });
}

void thresholded_relu(Node& node) {
  mapped(node, [&](Value x) { return threshold(x, {.threshold = node.number("alpha", 1.0)}); });
}

void shrink(Node& node) {
  const double lambd = node.number("lambd", 0.5);
  const double bias = node.number("bias", 0.0);
  mapped(node, [&](Value x) {
    if (bias == 0.0) return hardshrink(x, {.lambd = lambd});
    if (bias == lambd && lambd >= 0.0) return softshrink(x, {.lambd = lambd});
    const Value kept = hardshrink(x, {.lambd = lambd});
    return kept - sign(kept) * bias;
  });
}

void gelu_node(Node& node) {
  const bool approximates = node.text("approximate", "none") == "tanh";
  mapped(node, [&](Value x) { return gelu(x, {.tanh_approximation = approximates}); });
}

void swish_node(Node& node) {
  const double alpha = node.number("alpha", 1.0);
  mapped(node, [&](Value x) { return alpha == 1.0 ? swish(x) : x * sigmoid(x * alpha); });
}

void prelu_node(Node& node) {
  const Item& slope = node.item(1);
  const int rank = node.rank(0);
  // One slope a channel, [C, 1, 1], or one for all.
  const Shape shape = slope.shape();
  const bool one = shape.elements() == 1;
  const bool per_channel = rank >= 2 && shape.rank() == rank - 1 && shape.elements() == shape[0] &&
                           shape[0] == node.shape(0)[1];
  if (one || per_channel) {
    const Order order = channels_last(rank);
    Order axes;
    for (int i = 0; i < shape.rank(); ++i) axes.push_back(i);
    const Value weight = node.importer().value(slope, axes, {shape.elements()});
    node.give(prelu(node.value(0, order), weight), order);
    return;
  }
  const Broadcast in = broadcast(node, {0, 1});
  const Value x = in.values[0];
  node.give(relu(x) - in.values[1] * relu(-x), in.order);
}

// Along one axis; before opset 13 over all axes from that one on.
template <class Function>
void along_axis(Node& node, const Function& function) {
  const int rank = node.rank(0);
  node.require(rank >= 1, "expected at least one dimension");
  const bool flat = node.opset() < 13;
  const int axis = node.axis_of(node.integer("axis", flat ? 1 : -1), rank);
  if (flat && axis + 1 < rank) {
    const Value x = node.value(0);
    int64_t rows = 1;
    for (int i = 0; i < axis; ++i) rows *= x.shape()[i];
    node.give(reshape(function(reshape(x, {rows, x.shape().elements() / rows}), 1), x.shape()));
    return;
  }
  Order order;
  const Value x = node.stored(0, order);
  const Order places = inverse(order);
  node.give(function(x, places[static_cast<size_t>(axis)]), order);
}

void softmax_node(Node& node) {
  along_axis(node, [](Value x, int axis) { return softmax(x, {.axis = axis}); });
}
void log_softmax_node(Node& node) {
  along_axis(node, [](Value x, int axis) { return log_softmax(x, {.axis = axis}); });
}
void hardmax_node(Node& node) {
  along_axis(node, [](Value x, int axis) {
    const Value rows = one_hot(argmax(x, {.axis = axis}), {.classes = x.shape()[axis]});
    std::vector<int64_t> axes(static_cast<size_t>(x.shape().rank()));
    std::iota(axes.begin(), axes.end(), 0);
    const int64_t last = axes.back();
    axes.pop_back();
    axes.insert(axes.begin() + axis, last);
    return transpose(rows, axes);
  });
}

}  // namespace

void add_activations(Conversions& table) {
  table["LeakyRelu"] = {leaky_relu_node};
  table["Elu"] = {elu_node};
  table["Celu"] = {celu_node};
  table["Selu"] = {selu_node};
  table["HardSigmoid"] = {hard_sigmoid_node};
  table["Softplus"] = {softplus_node};
  table["ThresholdedRelu"] = {thresholded_relu};
  table["Shrink"] = {shrink};
  table["Gelu"] = {gelu_node};
  table["Swish"] = {swish_node};
  table["PRelu"] = {prelu_node};
  table["Softmax"] = {softmax_node};
  table["LogSoftmax"] = {log_softmax_node};
  table["Hardmax"] = {hardmax_node};
}

}  // namespace thimble::importer::onnx
