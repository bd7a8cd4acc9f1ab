// Ops element by element, of pairs, and over axes.
#include <thimble/ops.h>

#include "import/tflite/write.h"

namespace thimble::tflite {
namespace {

Options none() { return {}; }
Options empty(Op& op, BuiltinOptions type) {
  return op.options(type, CreateEmptyOptions(op.builder()));
}

// An operator of x alone, without settings.
template <int code, BuiltinOptions type = BuiltinOptions_NONE>
void unary(Op& op) {
  op.add(code, type == BuiltinOptions_NONE ? none() : empty(op, type), {op.input(0)},
         {op.output()});
}
// The operators that are always of version 1.
template <int code, BuiltinOptions type = BuiltinOptions_NONE>
void first_unary(Op& op) {
  op.add(code, 1, type == BuiltinOptions_NONE ? none() : empty(op, type), {op.input(0)},
         {op.output()});
}

template <int code, BuiltinOptions type>
void pair(Op& op) {
  op.add(code, empty(op, type), {op.input(0), op.input(1)}, {op.output()});
}

Options addition(Op& op, Activation activation) {
  return op.options(BuiltinOptions_AddOptions,
                    CreateAddOptions(op.builder(), function_of(activation)));
}
Options multiplication(Op& op, Activation activation) {
  return op.options(BuiltinOptions_MulOptions,
                    CreateMulOptions(op.builder(), function_of(activation)));
}

// Two biases, as recurrent layers have them, become one.
bool are_vectors(const Op& op) {
  return op.is_constant(0) && op.is_constant(1) && op.result().dtype == DType::f32 &&
         op.shape(0).rank() == 1 && op.shape(0) == op.shape(1);
}

void add_of(Op& op) {
  if (are_vectors(op)) {
    std::vector<float> sums = op.values(0).floats();
    const std::vector<float> others = op.values(1).floats();
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
    return op.give(sums);
  }
  op.add(0, addition(op, Activation::none), {op.input(0), op.input(1)}, {op.output()});
}
void sub_of(Op& op) {
  op.add(41, op.options(BuiltinOptions_SubOptions, CreateSubOptions(op.builder())),
         {op.input(0), op.input(1)}, {op.output()});
}
void mul_of(Op& op) {
  op.add(18, multiplication(op, Activation::none), {op.input(0), op.input(1)}, {op.output()});
}
void div_of(Op& op) {
  op.add(42, op.options(BuiltinOptions_DivOptions, CreateDivOptions(op.builder())),
         {op.input(0), op.input(1)}, {op.output()});
}
void quantized_add_of(Op& op) {
  op.add(0, addition(op, op.attrs<QuantizedAddAttrs>().activation), {op.input(0), op.input(1)},
         {op.output()});
}
void quantized_mul_of(Op& op) {
  op.add(18, multiplication(op, op.attrs<QuantizedMulAttrs>().activation),
         {op.input(0), op.input(1)}, {op.output()});
}

void swish_of(Op& op) {
  const int x = op.input(0);
  const int gate = op.between(op.result().shape);
  op.add(14, none(), {x}, {gate});
  op.add(18, multiplication(op, Activation::none), {x, gate}, {op.output()});
}

void square_of(Op& op) {
  op.add(18, multiplication(op, Activation::none), {op.input(0), op.input(0)}, {op.output()});
}

void reciprocal_of(Op& op) {
  op.add(42, op.options(BuiltinOptions_DivOptions, CreateDivOptions(op.builder())),
         {op.number(1.0), op.input(0)}, {op.output()});
}

void clip_of(Op& op) {
  const auto& a = op.attrs<ClipAttrs>();
  const int above = op.between(op.result().shape);
  op.add(55, empty(op, BuiltinOptions_MaximumMinimumOptions), {op.input(0), op.number(a.low)},
         {above});
  op.add(57, empty(op, BuiltinOptions_MaximumMinimumOptions), {above, op.number(a.high)},
         {op.output()});
}

void elu_of(Op& op) {
  if (op.attrs<EluAttrs>().alpha != 1.0) op.fail("such files have it with alpha = 1 alone");
  first_unary<111>(op);
}

void gelu_of(Op& op) {
  op.add(150, 1,
         op.options(BuiltinOptions_GeluOptions,
                    CreateGeluOptions(op.builder(), op.attrs<GeluAttrs>().tanh_approximation)),
         {op.input(0)}, {op.output()});
}

void leaky_relu_of(Op& op) {
  op.add(98, 1,
         op.options(BuiltinOptions_LeakyReluOptions,
                    CreateLeakyReluOptions(op.builder(),
                                           static_cast<float>(op.attrs<LeakyReluAttrs>().slope))),
         {op.input(0)}, {op.output()});
}

// The slopes of a sample: a number for every channel, whatever stands before it.
void prelu_of(Op& op) {
  if (!op.is_constant(1)) op.fail("its slopes must be known");
  const std::vector<float> slopes = op.values(1).floats();
  const Shape& x = op.shape(0);
  std::vector<int64_t> sizes(static_cast<size_t>(std::max(x.rank() - 1, 1)), 1);
  sizes.back() = x[-1];
  std::vector<float> all = slopes;
  all.resize(static_cast<size_t>(x[-1]), slopes.empty() ? 0.0F : slopes[0]);
  op.add(54, 1, none(), {op.input(0), op.floats(all, Shape(sizes))}, {op.output()});
}

void pow_of(Op& op) {
  op.add(78, 1, empty(op, BuiltinOptions_PowOptions),
         {op.input(0), op.number(op.attrs<PowAttrs>().exponent)}, {op.output()});
}

void check_last(Op& op, int64_t axis) {
  if (axis != -1 && axis != op.shape(0).rank() - 1) {
    op.fail("such files have it over the last dimension alone");
  }
}
void softmax_of(Op& op) {
  check_last(op, op.attrs<thimble::SoftmaxOptions>().axis);
  op.add(25, op.options(BuiltinOptions_SoftmaxOptions, CreateSoftmaxOptions(op.builder(), 1.0F)),
         {op.input(0)}, {op.output()});
}
void log_softmax_of(Op& op) {
  check_last(op, op.attrs<thimble::SoftmaxOptions>().axis);
  unary<50, BuiltinOptions_LogSoftmaxOptions>(op);
}

template <int code, class Attrs>
void reduction(Op& op) {
  const Attrs& a = op.attrs<Attrs>();
  std::vector<int64_t> axes = a.axes;
  for (int64_t axis = 0; a.axes.empty() && axis < op.shape(0).rank(); ++axis) axes.push_back(axis);
  op.add(code,
         op.options(BuiltinOptions_ReducerOptions, CreateReducerOptions(op.builder(), a.keepdims)),
         {op.input(0), op.numbers(axes)}, {op.output()});
}

void argmax_of(Op& op) {
  const auto& a = op.attrs<ArgmaxOptions>();
  if (a.keepdims || a.flat) op.fail("such files have it without keepdims and flat alone");
  op.add(56, 1, op.options(BuiltinOptions_ArgMaxOptions, CreateArgMaxOptions(op.builder(), kInt32)),
         {op.input(0), op.numbers({a.axis})}, {op.output()});
}

void drawn_of(Op& op) {
  op.fail("such files draw no random numbers; write a part of the model that draws none");
}

void cast_of(Op& op) { op.add(53, 1, none(), {op.input(0)}, {op.output()}); }

}  // namespace

std::span<const WriteRule> element_writers() {
  static const WriteRule rules[] = {
      {"add", add_of},
      {"sub", sub_of},
      {"mul", mul_of},
      {"div", div_of},
      {"quantized_add", quantized_add_of},
      {"quantized_mul", quantized_mul_of},
      {"maximum", pair<55, BuiltinOptions_MaximumMinimumOptions>},
      {"minimum", pair<57, BuiltinOptions_MaximumMinimumOptions>},
      {"relu", unary<19>},
      {"relu6", unary<21>},
      {"sigmoid", unary<14>},
      {"tanh", unary<28>},
      {"swish", swish_of},
      {"elu", elu_of},
      {"hard_swish", first_unary<117, BuiltinOptions_HardSwishOptions>},
      {"floor", first_unary<8>},
      {"ceil", first_unary<104>},
      {"round", first_unary<116>},
      {"sin", first_unary<66>},
      {"cos", first_unary<108>},
      {"exp", unary<47, BuiltinOptions_ExpOptions>},
      {"log", unary<73>},
      {"sqrt", first_unary<75>},
      {"rsqrt", unary<76>},
      {"neg", first_unary<59, BuiltinOptions_NegOptions>},
      {"abs", unary<101, BuiltinOptions_AbsOptions>},
      {"square", square_of},
      {"reciprocal", reciprocal_of},
      {"clip", clip_of},
      {"gelu", gelu_of},
      {"leaky_relu", leaky_relu_of},
      {"prelu", prelu_of},
      {"pow", pow_of},
      {"pow_tensor", pair<78, BuiltinOptions_PowOptions>},
      {"softmax", softmax_of},
      {"log_softmax", log_softmax_of},
      {"mean", reduction<40, ReduceOptions>},
      {"quantized_mean", reduction<40, QuantizedMeanAttrs>},
      {"sum", reduction<74, ReduceOptions>},
      {"max", reduction<82, ReduceOptions>},
      {"min", reduction<89, ReduceOptions>},
      {"argmax", argmax_of},
      {"cast", cast_of},
      {"random_normal", drawn_of},
      {"random_uniform", drawn_of},
      {"quantize", first_unary<114, BuiltinOptions_QuantizeOptions>},
      {"requantize", unary<114, BuiltinOptions_QuantizeOptions>},
      {"dequantize", unary<6, BuiltinOptions_DequantizeOptions>},
  };
  return rules;
}

}  // namespace thimble::tflite
