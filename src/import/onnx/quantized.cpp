// Integers with scales. Where a model computes on int8 or uint8 throughout, its layers become those
// of f32 whose weights and results are rounded to the steps of the integers (steps.h).
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "import/onnx/steps.h"
#include "import/onnx/table.h"
#include "import/onnx/windows.h"
#include "ops/families/quantized/fake.h"

namespace thimble::importer::onnx {
namespace {

struct Limits {
  double low;
  double high;
};

Limits limits_of(const Node& node, DType dtype) {
  if (dtype == DType::i8) return {-128.0, 127.0};
  if (dtype == DType::u8) return {0.0, 255.0};
  if (dtype == DType::i16) return {-32768.0, 32767.0};
  node.fail("thimble rounds to int8, uint8 and int16");
}

// A scale or zero point as it broadcasts with x: one number, or one for each index of an axis.
Value along(Node& node, size_t i, const Shape& x) {
  const Value value = as_type(node.value(i), DType::f32);
  const Shape& shape = value.shape();
  if (shape.elements() == 1) return reshape(value, {});
  node.require(shape.rank() == 1 && node.integer("block_size", 0) == 0,
               "thimble has one scale, or one for each index of an axis");
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  dims[static_cast<size_t>(node.axis_of(node.integer("axis", 1), x.rank()))] = shape[0];
  return reshape(value, Shape(dims));
}

// The node that computes a value, or null.
const ir::Node* producer(const ir::Graph& graph, int value) {
  const int made = graph.data(value).producer;
  return made < 0 ? nullptr : &graph.nodes[static_cast<size_t>(made)];
}

// Whether the node, which may be null, rounds to these steps, or moves numbers that are rounded so.
bool rounds_to(const ir::Graph& graph, const ir::Node* node, const Steps& steps) {
  static const std::set<std::string_view> moving{"max_pool2d", "reshape", "transpose", "slice"};
  while (node != nullptr && moving.count(node->op->name) > 0) {
    node = producer(graph, node->input(0));
  }
  const auto has = node == nullptr ? std::nullopt : ops::fake_steps_of(*node);
  return has && has->zero_point == steps.zero_point &&
         graph.data(node->input(1)).data->floats() == steps.scales;
}

// Of how many numbers in these steps x is the mean, so that its halves are exact as they are on
// integers; 1: it is none.
int64_t parts_of(const ir::Graph& graph, const Value& x, const Steps& steps) {
  const ir::Node* const mean = producer(graph, x.id());
  const int64_t parts = mean == nullptr ? 0 : ops::rounded_parts(*mean);
  return parts > 1 && rounds_to(graph, producer(graph, mean->input(0)), steps) ? parts : 1;
}

// Gives x, of f32, as a value with the steps that inputs 1 and 2 say, if all that read it take one.
bool give_in_steps(Node& node) {
  if (!node.item(0).is_value() || node.item(0).dtype() != DType::f32) return false;
  const auto steps = steps_of(node, node.def());
  if (!steps || !may_have_steps(node, *steps)) return false;
  Item x = node.item(0);
  const ir::Graph& graph = node.graph();
  if (!rounds_to(graph, producer(graph, x.value.id()), *steps)) {
    x.value = node.importer().rounded(x.value, *steps, 0, parts_of(graph, x.value, *steps));
  }
  x.steps = steps;
  node.give(0, std::move(x));
  return true;
}

void quantize_linear(Node& node) {
  if (give_in_steps(node)) return;
  const DType dtype = node.has(2) ? node.item(2).dtype() : DType::u8;
  const Limits limits = limits_of(node, dtype);
  Order order;
  Value x = node.stored(0, order);
  const bool one = node.shape(1).elements() == 1;
  if (dtype == DType::i8 && one && node.is_known(1) && (!node.has(2) || node.is_known(2)) &&
      x.dtype() == DType::f32) {
    const auto zero = node.has(2) ? node.number_of(2) : 0.0;
    node.give(quantize(x, {.scale = node.number_of(1), .zero_point = static_cast<int64_t>(zero)}),
              order);
    return;
  }
  if (!one) {
    x = node.value(0);
    order = plain_order(x.shape().rank());
  }
  Value y = round(as_type(x, DType::f32) / along(node, 1, x.shape()));
  if (node.has(2)) y = y + along(node, 2, x.shape());
  node.give(cast(clip(y, {.low = limits.low, .high = limits.high}), dtype), order);
}

// The numbers of an integer initializer: a parameter of its name.
bool dequantize_weight(Node& node) {
  const Item& item = node.item(0);
  if (node.importer().is_function() || !item.known || !node.is_known(1) ||
      (node.has(2) && !node.is_known(2)) || item.rank() == 0 ||
      node.integer("block_size", 0) != 0) {
    return false;
  }
  const bool one = node.shape(1).elements() == 1 && (!node.has(2) || node.shape(2).elements() == 1);
  const int axis = one ? 0 : node.axis_of(node.integer("axis", 1), item.rank());
  node.give(0, weight_in_steps(node, axis));
  return true;
}

void dequantize_linear(Node& node) {
  if (node.item(0).steps) {
    Item made = node.item(0);
    made.steps.reset();
    return node.give(0, std::move(made));
  }
  if (dequantize_weight(node)) return;
  Order order;
  Value x = node.stored(0, order);
  if (x.quantization() != nullptr) {
    node.give(dequantize(x), order);
    return;
  }
  if (node.shape(1).elements() != 1) {
    x = node.value(0);
    order = plain_order(x.shape().rank());
  }
  Value y = cast(x, DType::f32);
  if (node.has(2)) y = y - along(node, 2, x.shape());
  node.give(y * along(node, 1, x.shape()), order);
}

// Sums of products of integers, in f32, which holds them exactly up to 2^24.
constexpr double kMostExact = 16777216.0;

Value centered(Node& node, size_t i, size_t zero) {
  Value x = cast(node.value(i), DType::f32);
  if (node.has(zero)) {
    Value z = cast(node.value(zero), DType::f32);
    if (z.shape().elements() == 1) {
      z = reshape(z, {});
    } else {
      node.require(i == 0 && z.shape().rank() == 1 && x.shape().rank() == 2,
                   "expected one zero point");
      z = reshape(z, {z.shape()[0], 1});
    }
    x = x - z;
  }
  return x;
}

void matmul_integer(Node& node) {
  node.require(node.rank(0) >= 1, "expected at least one dimension");
  node.require(static_cast<double>(node.shape(0)[-1]) * 255.0 * 255.0 <= kMostExact,
               "thimble adds up at most 258 products of integers exactly");
  const Value y = matmul(centered(node, 0, 2), centered(node, 1, 3));
  node.give(cast(y, DType::i32));
}

void qlinear_matmul(Node& node) {
  node.require(node.rank(0) >= 1, "expected at least one dimension");
  node.require(static_cast<double>(node.shape(0)[-1]) * 255.0 * 255.0 <= kMostExact,
               "thimble adds up at most 258 products of integers exactly");
  for (const size_t i : {size_t{1}, size_t{2}, size_t{4}, size_t{5}, size_t{6}, size_t{7}}) {
    node.require(node.shape(i).elements() == 1, "expected one scale and one zero point each");
  }
  const DType dtype = node.item(7).dtype();
  const Limits limits = limits_of(node, dtype);
  const auto factor = [&](size_t i) { return reshape(as_type(node.value(i), DType::f32), {}); };
  Value y = matmul(centered(node, 0, 2), centered(node, 3, 5));
  y = round(y * (factor(1) * factor(4) / factor(6))) + factor(7);
  node.give(cast(clip(y, {.low = limits.low, .high = limits.high}), dtype));
}

// The convolution of two tensors of integers, exact in f32. zeros: of their zero points; bias: in
// units of their products, or none.
Value convolved(Node& node, size_t x, size_t x_zero, size_t w, size_t w_zero, const Value& bias) {
  const Shape kernel = node.shape(w);
  node.require(node.rank(x) == 4 && kernel.rank() == 4, "expected images [N, C, H, W]");
  node.require(
      static_cast<double>(kernel.elements() / std::max<int64_t>(kernel[0], 1)) * 255.0 * 255.0 <=
          kMostExact,
      "thimble adds up at most 258 products of integers exactly");
  const Order order = channels_last(4);
  const auto shifted = [&](size_t i, size_t zero) {
    const Value values = as_type(node.value(i, order), DType::f32);
    if (!node.has(zero)) return values;
    node.require(node.shape(zero).elements() == 1, "expected one zero point");
    return values - reshape(as_type(node.value(zero), DType::f32), {});
  };
  const Window window = window_of(node, spatial(node.shape(x)), spatial(kernel));
  return conv2d(shifted(x, x_zero), shifted(w, w_zero), bias,
                {.stride = {window.stride[0], window.stride[1]},
                 .padding = {window.before[0], window.after[0], window.before[1], window.after[1]},
                 .dilation = {window.dilation[0], window.dilation[1]},
                 .groups = node.integer("group", 1)});
}

void conv_integer(Node& node) {
  node.give(cast(convolved(node, 0, 2, 1, 3, {}), DType::i32), channels_last(4));
}

void qlinear_conv(Node& node) {
  for (const size_t i : {size_t{1}, size_t{6}, size_t{7}}) {
    node.require(node.shape(i).elements() == 1, "expected one scale and one zero point each");
  }
  const DType dtype = node.item(7).dtype();
  const Limits limits = limits_of(node, dtype);
  const auto factor = [&](size_t i) {
    const Value value = as_type(node.value(i), DType::f32);
    return value.shape().elements() == 1 ? reshape(value, {}) : value;
  };
  const Value bias = node.has(8) ? as_type(node.value(8), DType::f32) : Value();
  Value y = convolved(node, 0, 2, 3, 5, bias);
  // Scales of the weights lie along the channels, which are the last axis.
  y = round(y * (factor(1) * factor(4) / factor(6))) + factor(7);
  node.give(cast(clip(y, {.low = limits.low, .high = limits.high}), dtype), channels_last(4));
}

// A scale and a zero point from the least and the largest number.
void dynamic_quantize_linear(Node& node) {
  const Value x = node.value(0);
  const Value low = clip(min(x), {.low = -INFINITY, .high = 0.0});
  const Value range = relu(max(x)) - low;
  const Value scale = (range + (1.0 - sign(range)) * 255.0) / 255.0;  // of zeros alone: 1
  const Value zero = clip(round(-low / scale), {.low = 0.0, .high = 255.0});
  const Value y = clip(round(x / scale) + zero, {.low = 0.0, .high = 255.0});
  node.give(0, cast(y, DType::u8), plain_order(x.shape().rank()));
  node.give(1, scale, {});
  node.give(2, cast(zero, DType::u8), {});
}

}  // namespace

void add_quantized(Conversions& table) {
  table["QuantizeLinear"] = {quantize_linear};
  table["DequantizeLinear"] = {dequantize_linear, false};
  table["MatMulInteger"] = {matmul_integer, false};
  table["QLinearMatMul"] = {qlinear_matmul, false};
  table["ConvInteger"] = {conv_integer, false};
  table["QLinearConv"] = {qlinear_conv, false};
  table["DynamicQuantizeLinear"] = {dynamic_quantize_linear, false};
}

}  // namespace thimble::importer::onnx
