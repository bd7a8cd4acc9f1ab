// Writing networks on int8: integers stand between QuantizeLinear and DequantizeLinear, and all
// other nodes read and give f32.
#include <thimble/ops.h>

#include <algorithm>

#include "import/onnx/write.h"
#include "ops/learned_scale/dims.h"

namespace thimble::importer::onnx {

void FileWriter::add_scale(const Quantization& q, std::vector<std::string>& inputs) {
  const Shape shape = q.axis ? Shape{static_cast<int64_t>(q.scales.size())} : Shape();
  std::vector<int8_t> zeros(q.zero_points.begin(), q.zero_points.end());
  zeros.resize(q.scales.size(), 0);
  inputs.push_back(add_initializer("scale", {Array(q.scales, shape)}));
  inputs.push_back(add_initializer("zero_point", {Array(std::move(zeros), shape)}));
}

std::string FileWriter::dequantized(const std::string& integers, const Quantization& q,
                                    const Order& order) {
  std::vector<std::string> inputs{integers};
  add_scale(q, inputs);
  Attributes axis;
  if (q.axis) axis["axis"] = attribute(int64_t{inverse(order)[static_cast<size_t>(*q.axis)]});
  return add_node("DequantizeLinear", "", inputs, axis, 1);
}

std::string FileWriter::quantized(const std::string& x, const Quantization& q) {
  std::vector<std::string> inputs{x};
  add_scale(q, inputs);
  return add_node("QuantizeLinear", "", inputs, {}, 1);
}

std::string FileWriter::rounded(const std::string& x, const Quantization& q) {
  const auto known = rounded_.find(x);
  if (known != rounded_.end() && known->second == q) return x;
  std::vector<std::string> inputs{x};
  add_scale(q, inputs);
  inputs[0] = add_node("QuantizeLinear", "", inputs, {}, 1);
  std::string y = add_node("DequantizeLinear", "", inputs, {}, 1);
  rounded_[y] = q;
  return y;
}

std::string Op::bias() {
  if (!has(2) || type(2).dtype != DType::i32) return optional(2);
  if (!is_constant(2)) fail("its bias is computed");
  std::vector<float> scales = type(1).quantization->scales;
  for (float& scale : scales) scale *= type(0).quantization->scales[0];
  const Array integers = values(2);
  // Of groups that share scales: one number an output channel.
  std::vector<float> units;
  for (int64_t k = 0; k < integers.elements(); ++k) {
    units.push_back(scales[static_cast<size_t>(k) % scales.size()]);
  }
  const std::string& name = *file_.graph().data(node().input(2)).name;
  const std::string scale = floats(units, integers.shape());
  return add("DequantizeLinear", {file_.add_initializer(name, {integers}), scale},
             {{"axis", attribute(int64_t{0})}});
}

namespace {

// Tensors of two scales.
template <class Attrs>
void pair_of(Op& op, const char* operator_name) {
  Order order;
  const std::vector<std::string> inputs = op.broadcast({0, 1}, order);
  op.give(op.add(operator_name, inputs), order, op.attrs<Attrs>().activation);
}
void add_of(Op& op) { pair_of<QuantizedAddAttrs>(op, "Add"); }
void sub_of(Op& op) { pair_of<QuantizedSubAttrs>(op, "Sub"); }
void mul_of(Op& op) { pair_of<QuantizedMulAttrs>(op, "Mul"); }

void mean_of(Op& op) {
  const auto& a = op.attrs<QuantizedMeanAttrs>();
  std::vector<int64_t> axes = a.axes;
  for (int axis = 0; a.axes.empty() && axis < op.rank(0); ++axis) axes.push_back(axis);
  op.give(op.add("ReduceMean", {op.input(0), op.integers(axes)},
                 {{"keepdims", attribute(int64_t{a.keepdims})}}));
}

void function_of(Op& op, const char* operator_name) {
  const Order order = op.order_of(0);
  op.give(op.add(operator_name, {op.input(0, order)}), order);
}
void sigmoid_of(Op& op) { function_of(op, "Sigmoid"); }
void tanh_of(Op& op) { function_of(op, "Tanh"); }

// The result has another type or scale, and is rounded where it is given.
void rounding_of(Op& op) {
  const Order order = op.order_of(0);
  op.give(op.input(0, order), order);
}

// Scales that train: those at the start times ratios.
void learned_scale_of(Op& op) {
  if (!op.is_constant(0) || !op.is_constant(1)) op.fail("its scale is computed");
  std::vector<float> scales = op.values(0).floats();
  const std::vector<float> units = op.values(1).floats();
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = units[i] * std::max(scales[i], LEARNED_SCALE_LEAST);
  }
  op.give(op.floats(scales, op.shape(0)));
}

// x between bounds, one or one for each channel of the axis at a place.
std::string within(Op& op, const std::string& x, const std::string& low, const std::string& high) {
  return op.add("Min", {op.add("Max", {x, low}), high});
}

// Numbers rounded to steps: by QuantizeLinear and DequantizeLinear where the integers are int8,
// else by the formula of the op.
void fake_quantize_of(Op& op) {
  const auto& a = op.attrs<FakeQuantizeAttrs>();
  const Order order = op.order_of(0);
  std::string x = op.input(0, order);
  const int64_t channels = op.shape(1).elements();
  const int64_t place = op.place_of(order, a.axis);
  std::vector<int64_t> column(static_cast<size_t>(op.rank(0)), 1);
  if (channels > 1) column[static_cast<size_t>(place)] = channels;
  const std::string wide = op.reshape(op.input(1), channels > 1 ? Shape(column) : Shape());
  const auto low = static_cast<double>(a.low - a.zero_point);
  const auto high = static_cast<double>(a.high - a.zero_point);
  if (a.parts > 1 || a.low < -128 || a.high > 127) {
    std::string near = op.add("Div", {x, wide});
    if (a.parts > 1) {
      const std::string parts = op.number(static_cast<double>(a.parts));
      near = op.add("Div", {op.add("Round", {op.add("Mul", {near, parts})}), parts});
    }
    near = within(op, op.add("Round", {near}), op.number(low), op.number(high));
    return op.give(op.add("Mul", {near, wide}), order);
  }
  if (a.low > -128 || a.high < 127) {
    const auto bound = [&](double steps) { return op.add("Mul", {wide, op.number(steps)}); };
    x = within(op, x, bound(low), bound(high));
  }
  Attributes axis;
  if (channels > 1) axis["axis"] = attribute(place);
  const Shape shape = channels > 1 ? Shape{channels} : Shape();
  const std::string scale = channels > 1 ? op.input(1) : wide;
  const std::vector<int8_t> zeros(static_cast<size_t>(channels), static_cast<int8_t>(a.zero_point));
  const std::string zero = op.file().add_initializer("zero_point", {Array(zeros, shape)});
  const std::string integers = op.add("QuantizeLinear", {x, scale, zero}, axis);
  op.give(op.add("DequantizeLinear", {integers, scale, zero}, axis), order);
}

}  // namespace

std::span<const WriteRule> quantized_writers() {
  static const WriteRule rules[] = {
      {"quantize", rounding_of},           {"dequantize", rounding_of},
      {"requantize", rounding_of},         {"quantized_add", add_of},
      {"quantized_sub", sub_of},           {"quantized_mul", mul_of},
      {"quantized_mean", mean_of},         {"quantized_sigmoid", sigmoid_of},
      {"quantized_tanh", tanh_of},         {"fake_quantize", fake_quantize_of},
      {"learned_scale", learned_scale_of},
  };
  return rules;
}

}  // namespace thimble::importer::onnx
