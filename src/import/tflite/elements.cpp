// Ops element by element, of pairs, and over axes.
#include <thimble/ops.h>

#include "import/tflite/node.h"
#include "ir/graph.h"

namespace thimble::tflite {
namespace {

// An operand of a pair. A constant f32 tensor is trained, a number is not.
Value operand(Node& node, int i, const char* layer) {
  if (node.is_int8(i) || !node.is_constant(i) || node.tensor(i).type != kFloat32 ||
      node.tensor(i).shape.elements() < 2) {
    return node.input(i);
  }
  const ir::LayerScope scope(node.ir(), layer, "");
  return node.parameter(i, scope.name() + ".weight", false);
}

using Pairwise = Value (*)(Value, Value);

void give_pair(Node& node, const char* layer, Pairwise op, ActivationFunction function) {
  const Value a = operand(node, 0, layer);
  const Value b = operand(node, 1, layer);
  node.give(activated(node, op(a, b), function));
}

void refuse_int8(const Node& node) {
  if (node.is_int8()) node.fail("thimble has no such op of int8 with the kernel's bits");
}

// The activation of options that may be left out.
template <class Options>
ActivationFunction activation_of(const Options* o) {
  return o == nullptr ? ActivationFunction_NONE : o->activation();
}

void add_pair(Node& node) {
  const auto function = activation_of(node.options_if<AddOptions>(BuiltinOptions_AddOptions));
  if (!node.is_int8()) return give_pair(node, "add", add, function);
  node.give(quantized_add(node.input(0), node.input(1),
                          node.scaled(QuantizedAddAttrs{bounds_of(node, function)})));
}

void multiply(Node& node) {
  const auto function = activation_of(node.options_if<MulOptions>(BuiltinOptions_MulOptions));
  if (!node.is_int8()) return give_pair(node, "mul", mul, function);
  node.give(quantized_mul(node.input(0), node.input(1),
                          node.scaled(QuantizedMulAttrs{bounds_of(node, function)})));
}

void subtract(Node& node) {
  refuse_int8(node);
  give_pair(node, "sub", sub,
            activation_of(node.options_if<SubOptions>(BuiltinOptions_SubOptions)));
}
void divide(Node& node) {
  refuse_int8(node);
  give_pair(node, "div", div,
            activation_of(node.options_if<DivOptions>(BuiltinOptions_DivOptions)));
}

template <Pairwise op>
void pair(Node& node) {
  refuse_int8(node);
  node.give(op(node.input(0), node.input(1)));
}

Value squared_difference(Value a, Value b) { return square(sub(a, b)); }
Value power(Value a, Value b) { return pow(a, b); }

void add_n(Node& node) {
  refuse_int8(node);
  Value sum = node.input(0);
  for (int i = 1; i < node.inputs(); ++i) sum = add(sum, node.input(i));
  node.give(sum);
}

template <Value (*op)(Value)>
void unary(Node& node) {
  refuse_int8(node);
  node.give(op(node.input(0)));
}

Value elu_of(Value x) { return elu(x); }
Value n1_to_1(Value x) { return clip(x, {.low = -1.0, .high = 1.0}); }
Value log_softmax_of(Value x) { return log_softmax(x); }

template <Value (*op)(Value), Activation bounds>
void clamp_at(Node& node) {
  const Value x = node.input(0);
  node.give(node.is_int8() ? node.clamped(x, bounds) : op(x));
}

// Of int8 by a table in float32: with a scale that is a power of two, quantize rounds as it does.
template <Value (*op)(Value)>
void by_table(Node& node) {
  const Value x = node.input(0);
  if (!node.is_int8()) return node.give(op(x));
  const auto attrs = node.scaled(QuantizeOptions{});
  node.give(quantize(op(dequantize(x)), attrs));
}

void gelu_of(Node& node) {
  refuse_int8(node);
  const auto* const o = node.options_if<GeluOptions>(BuiltinOptions_GeluOptions);
  node.give(gelu(node.input(0), {.tanh_approximation = o != nullptr && o->approximate()}));
}

void leaky_relu_of(Node& node) {
  refuse_int8(node);
  const auto* const o = node.options_if<LeakyReluOptions>(BuiltinOptions_LeakyReluOptions);
  node.give(
      leaky_relu(node.input(0), {.slope = o == nullptr ? 0.0 : static_cast<double>(o->alpha())}));
}

void prelu_of(Node& node) {
  refuse_int8(node);
  const ir::LayerScope scope(node.ir(), "prelu", "");
  node.give(prelu(node.input(0), node.parameter(1, scope.name() + ".weight", false, Layout::flat)));
}

void softmax_of(Node& node) {
  const auto& o = node.options<SoftmaxOptions>(BuiltinOptions_SoftmaxOptions);
  Value x = node.input(0);
  if (o.beta() != 1.0F) {
    if (node.is_int8()) node.fail("expected a beta of 1 for int8");
    x = affine(x, {.scale = static_cast<double>(o.beta())});
  }
  static_cast<void>(node.axis(x, -1));
  node.give(softmax(x));
}

// The axes that input 1 names.
std::vector<int64_t> axes_of(const Node& node, const Value& x) {
  std::vector<int64_t> axes = node.integers(1);
  for (int64_t& axis : axes) axis = node.axis(x, axis);
  return axes;
}

void reduce_mean(Node& node) {
  const auto* const o = node.options_if<ReducerOptions>(BuiltinOptions_ReducerOptions);
  const Value x = node.input(0);
  const std::vector<int64_t> axes = axes_of(node, x);
  const bool keepdims = o != nullptr && o->keep_dims();
  if (axes.empty()) return node.give(x);
  if (!node.is_int8()) return node.give(mean(x, {.axes = axes, .keepdims = keepdims}));
  node.give(quantized_mean(x, node.scaled(QuantizedMeanAttrs{.axes = axes, .keepdims = keepdims})));
}

using Reduction = Value (*)(Value, const ReduceOptions&);

template <Reduction op>
void reduce(Node& node) {
  refuse_int8(node);
  const auto* const o = node.options_if<ReducerOptions>(BuiltinOptions_ReducerOptions);
  const Value x = node.input(0);
  const std::vector<int64_t> axes = axes_of(node, x);
  if (axes.empty()) return node.give(x);
  node.give(op(x, {.axes = axes, .keepdims = o != nullptr && o->keep_dims()}));
}

void arg_max(Node& node) {
  refuse_int8(node);
  const Value x = node.input(0);
  const Value at = argmax(x, {.axis = node.axis(x, node.integer(1))});
  node.give(node.result().type == kInt64 ? cast(at, DType::i64) : at);
}

void quantize_of(Node& node) {
  const Value x = node.input(0);
  if (node.is_int8()) return node.give(requantize(x, node.scaled(RequantizeOptions{})));
  node.give(quantize(x, node.scaled(QuantizeOptions{})));
}

void dequantize_of(Node& node) {
  const Value x = node.input(0);
  if (!node.is_int8()) node.fail("expected int8");
  node.give(dequantize(x));
}

void cast_to(Node& node) {
  refuse_int8(node);
  switch (node.result().type) {
    case kFloat32:
      return node.give(cast(node.input(0), DType::f32));
    case kInt32:
      return node.give(cast(node.input(0), DType::i32));
    case kInt64:
      return node.give(cast(node.input(0), DType::i64));
    case kBool:
      return node.give(cast(node.input(0), DType::boolean));
    default:
      node.fail("thimble does not cast to this type");
  }
}

void select_v2(Node& node) { node.give(where(node.input(0), node.input(1), node.input(2))); }

}  // namespace

std::span<const Rule> element_rules() {
  static const Rule rules[] = {
      {0, "ADD", add_pair},
      {6, "DEQUANTIZE", dequantize_of},
      {8, "FLOOR", unary<floor>},
      {14, "LOGISTIC", by_table<sigmoid>},
      {18, "MUL", multiply},
      {19, "RELU", clamp_at<relu, Activation::relu>},
      {20, "RELU_N1_TO_1", unary<n1_to_1>},
      {21, "RELU6", clamp_at<relu6, Activation::relu6>},
      {25, "SOFTMAX", softmax_of},
      {28, "TANH", by_table<tanh>},
      {40, "MEAN", reduce_mean, 1},
      {41, "SUB", subtract},
      {42, "DIV", divide},
      {47, "EXP", unary<exp>},
      {50, "LOG_SOFTMAX", unary<log_softmax_of>},
      {53, "CAST", cast_to},
      {54, "PRELU", prelu_of},
      {55, "MAXIMUM", pair<maximum>},
      {56, "ARG_MAX", arg_max, 1},
      {57, "MINIMUM", pair<minimum>},
      {59, "NEG", unary<neg>},
      {66, "SIN", unary<sin>},
      {73, "LOG", unary<log>},
      {74, "SUM", reduce<sum>, 1},
      {75, "SQRT", unary<sqrt>},
      {76, "RSQRT", unary<rsqrt>},
      {78, "POW", pair<power>},
      {82, "REDUCE_MAX", reduce<max>, 1},
      {89, "REDUCE_MIN", reduce<min>, 1},
      {92, "SQUARE", unary<square>},
      {98, "LEAKY_RELU", leaky_relu_of},
      {99, "SQUARED_DIFFERENCE", pair<squared_difference>},
      {101, "ABS", unary<abs>},
      {104, "CEIL", unary<ceil>},
      {106, "ADD_N", add_n},
      {108, "COS", unary<cos>},
      {111, "ELU", unary<elu_of>},
      {114, "QUANTIZE", quantize_of},
      {116, "ROUND", unary<round>},
      {117, "HARD_SWISH", unary<hard_swish>},
      {123, "SELECT_V2", select_v2},
      {150, "GELU", gelu_of},
  };
  return rules;
}

}  // namespace thimble::tflite
