// Writing ops element by element, of pairs, and over axes.
#include <thimble/ops.h>

#include <array>
#include <cmath>
#include <string_view>

#include "import/onnx/write.h"
#include "ops/random_normal/attrs.h"
#include "ops/random_uniform/attrs.h"

namespace thimble::importer::onnx {
namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 29> kUnary{{
    {"abs", "Abs"},     {"acos", "Acos"},
    {"acosh", "Acosh"}, {"asin", "Asin"},
    {"asinh", "Asinh"}, {"atan", "Atan"},
    {"atanh", "Atanh"}, {"ceil", "Ceil"},
    {"cos", "Cos"},     {"cosh", "Cosh"},
    {"erf", "Erf"},     {"exp", "Exp"},
    {"floor", "Floor"}, {"hard_swish", "HardSwish"},
    {"log", "Log"},     {"mish", "Mish"},
    {"neg", "Neg"},     {"reciprocal", "Reciprocal"},
    {"relu", "Relu"},   {"round", "Round"},
    {"selu", "Selu"},   {"sigmoid", "Sigmoid"},
    {"sign", "Sign"},   {"sin", "Sin"},
    {"sinh", "Sinh"},   {"softsign", "Softsign"},
    {"sqrt", "Sqrt"},   {"tan", "Tan"},
    {"tanh", "Tanh"},
}};

// Of x alone, its order kept.
void unary_of(Op& op) {
  for (const auto& [name, operator_name] : kUnary) {
    if (name != op.name()) continue;
    const Order order = op.order_of(0);
    return op.give(op.add(operator_name, {op.input(0, order)}), order);
  }
}

// x and the order in which it stands.
struct Operand {
  std::string x;
  Order order;
};
Operand operand(Op& op) {
  Order order = op.order_of(0);
  return {op.input(0, order), std::move(order)};
}

void with_settings(Op& op, const char* operator_name, const Attributes& attributes) {
  const Operand in = operand(op);
  op.give(op.add(operator_name, {in.x}, attributes), in.order);
}

void leaky_relu_of(Op& op) {
  with_settings(op, "LeakyRelu", {{"alpha", attribute(op.attrs<LeakyReluAttrs>().slope)}});
}
void elu_of(Op& op) {
  with_settings(op, "Elu", {{"alpha", attribute(op.attrs<EluAttrs>().alpha)}});
}
void celu_of(Op& op) {
  with_settings(op, "Celu", {{"alpha", attribute(op.attrs<CeluAttrs>().alpha)}});
}
void gelu_of(Op& op) {
  const bool approximates = op.attrs<GeluAttrs>().tanh_approximation;
  with_settings(op, "Gelu", {{"approximate", attribute(approximates ? "tanh" : "none")}});
}
void hard_sigmoid_of(Op& op) {
  with_settings(op, "HardSigmoid", {{"alpha", attribute(1.0 / 6.0)}, {"beta", attribute(0.5)}});
}
void softshrink_of(Op& op) {
  const double lambd = op.attrs<SoftshrinkAttrs>().lambd;
  with_settings(op, "Shrink", {{"lambd", attribute(lambd)}, {"bias", attribute(lambd)}});
}
void hardshrink_of(Op& op) {
  with_settings(
      op, "Shrink",
      {{"lambd", attribute(op.attrs<HardshrinkAttrs>().lambd)}, {"bias", attribute(0.0)}});
}

void clipped(Op& op, double low, double high) {
  const Operand in = operand(op);
  op.give(op.add("Clip", {in.x, op.number(low), op.number(high)}), in.order);
}
void relu6_of(Op& op) { clipped(op, 0.0, 6.0); }
void clip_of(Op& op) { clipped(op, op.attrs<ClipAttrs>().low, op.attrs<ClipAttrs>().high); }
void hard_tanh_of(Op& op) {
  clipped(op, op.attrs<HardTanhAttrs>().min_val, op.attrs<HardTanhAttrs>().max_val);
}

void swish_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Mul", {in.x, op.add("Sigmoid", {in.x})}), in.order);
}
void square_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Mul", {in.x, in.x}), in.order);
}
void rsqrt_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Reciprocal", {op.add("Sqrt", {in.x})}), in.order);
}
void log_sigmoid_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Neg", {op.add("Softplus", {op.add("Neg", {in.x})})}), in.order);
}
void softplus_of(Op& op) {
  const double beta = op.attrs<SoftplusAttrs>().beta;
  const Operand in = operand(op);
  if (beta == 1.0) return op.give(op.add("Softplus", {in.x}), in.order);
  const std::string y = op.add("Softplus", {op.add("Mul", {in.x, op.number(beta)})});
  op.give(op.add("Mul", {y, op.number(1.0 / beta)}), in.order);
}
void affine_of(Op& op) {
  const auto& a = op.attrs<AffineAttrs>();
  Operand in = operand(op);
  if (a.scale != 1.0) in.x = op.add("Mul", {in.x, op.number(a.scale, op.type(0).dtype)});
  if (a.shift != 0.0 || a.scale == 1.0) {
    in.x = op.add("Add", {in.x, op.number(a.shift, op.type(0).dtype)});
  }
  op.give(in.x, in.order);
}
void pow_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Pow", {in.x, op.number(op.attrs<PowAttrs>().exponent)}), in.order);
}

// 1 - erf(x).
void erfc_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Sub", {op.number(1.0), op.add("Erf", {in.x})}), in.order);
}
void exp2_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Pow", {op.number(2.0), in.x}), in.order);
}
void expm1_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Sub", {op.add("Exp", {in.x}), op.number(1.0)}), in.order);
}
void log1p_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Log", {op.add("Add", {in.x, op.number(1.0)})}), in.order);
}
void log_of_base(Op& op, double base) {
  const Operand in = operand(op);
  op.give(op.add("Mul", {op.add("Log", {in.x}), op.number(1.0 / std::log(base))}), in.order);
}
void log2_of(Op& op) { log_of_base(op, 2.0); }
void log10_of(Op& op) { log_of_base(op, 10.0); }
void logit_of(Op& op) {
  const double eps = op.attrs<LogitAttrs>().eps;
  Operand in = operand(op);
  if (eps >= 0.0) in.x = op.add("Clip", {in.x, op.number(eps), op.number(1.0 - eps)});
  const std::string odds = op.add("Div", {in.x, op.add("Sub", {op.number(1.0), in.x})});
  op.give(op.add("Log", {odds}), in.order);
}
void threshold_of(Op& op) {
  const auto& a = op.attrs<ThresholdAttrs>();
  const Operand in = operand(op);
  const std::string above = op.add("Greater", {in.x, op.number(a.threshold)});
  op.give(op.add("Where", {above, in.x, op.number(a.value)}), in.order);
}

std::string without_fraction(Op& op, const std::string& x) {
  return op.add("Mul", {op.add("Sign", {x}), op.add("Floor", {op.add("Abs", {x})})});
}
void trunc_of(Op& op) {
  const Operand in = operand(op);
  op.give(without_fraction(op, in.x), in.order);
}
void frac_of(Op& op) {
  const Operand in = operand(op);
  op.give(op.add("Sub", {in.x, without_fraction(op, in.x)}), in.order);
}

// Draws of the same distribution, other ones each time.
void drawn(Op& op, const char* operator_name, Attributes attributes) {
  attributes["dtype"] = attribute(type_number(DType::f32));
  const std::string like = op.add("ConstantOfShape", {op.sizes(op.result().shape)});
  op.give(op.add(operator_name, {like}, attributes));
}
void random_uniform_of(Op& op) {
  const auto& a = op.attrs<RandomUniformAttrs>();
  drawn(op, "RandomUniformLike", {{"low", attribute(a.low)}, {"high", attribute(a.high)}});
}
void random_normal_of(Op& op) {
  const auto& a = op.attrs<RandomNormalAttrs>();
  // onnxruntime ends the process where the deviation is 0.
  if (a.stddev == 0.0) {
    return op.give(op.add("Expand", {op.number(a.mean), op.sizes(op.result().shape)}));
  }
  drawn(op, "RandomNormalLike", {{"mean", attribute(a.mean)}, {"scale", attribute(a.stddev)}});
}

// One slope a channel, or one for all.
void prelu_of(Op& op) {
  const int rank = op.rank(0);
  const Order order = channels_first(rank);
  std::vector<int64_t> dims(static_cast<size_t>(std::max(rank - 1, 1)), 1);
  dims[0] = op.shape(1).elements();
  const std::string slopes = dims.size() == 1 ? op.input(1) : op.reshape(op.input(1), Shape(dims));
  op.give(op.add("PRelu", {op.input(0, order), slopes}), order);
}

template <const char* operator_name>
void pair_of(Op& op) {
  Order order;
  const std::vector<std::string> in = op.broadcast({0, 1}, order);
  op.give(op.add(operator_name, in), order);
}

constexpr char kAdd[] = "Add";
constexpr char kSub[] = "Sub";
constexpr char kMul[] = "Mul";
constexpr char kDiv[] = "Div";
constexpr char kMax[] = "Max";
constexpr char kMin[] = "Min";
constexpr char kPow[] = "Pow";

// The remainder has the sign of b, that of fmod the sign of a.
void remainder_of(Op& op) {
  Order order;
  const std::vector<std::string> in = op.broadcast({0, 1}, order);
  const bool is_float = op.type(0).dtype == DType::f32;
  if (op.name() == "fmod" || !is_float) {
    const int64_t towards_zero = op.name() == "fmod" ? 1 : 0;
    return op.give(op.add("Mod", in, {{"fmod", attribute(towards_zero)}}), order);
  }
  const std::string whole = op.add("Floor", {op.add("Div", in)});
  op.give(op.add("Sub", {in[0], op.add("Mul", {whole, in[1]})}), order);
}

void clamp_of(Op& op) {
  std::vector<int> given{0};
  for (const int bound : {1, 2}) {
    if (op.has(bound)) given.push_back(bound);
  }
  Order order;
  const std::vector<std::string> in = op.broadcast(given, order);
  std::string y = in[0];
  if (op.has(1)) y = op.add("Max", {y, in[1]});
  if (op.has(2)) y = op.add("Min", {y, in.back()});
  op.give(y, order);
}

// Results are of bool.
void compared(Op& op, const char* operator_name, bool as_bool, bool negated) {
  Order order;
  const std::vector<std::string> in = op.broadcast({0, 1}, order, as_bool);
  std::string y = op.add(operator_name, in);
  if (negated) y = op.add("Not", {y});
  op.give(0, y, order, true);
}
void eq_of(Op& op) { compared(op, "Equal", false, false); }
void ne_of(Op& op) { compared(op, "Equal", false, true); }
void lt_of(Op& op) { compared(op, "Less", false, false); }
void le_of(Op& op) { compared(op, "LessOrEqual", false, false); }
void gt_of(Op& op) { compared(op, "Greater", false, false); }
void ge_of(Op& op) { compared(op, "GreaterOrEqual", false, false); }
void and_of(Op& op) { compared(op, "And", true, false); }
void or_of(Op& op) { compared(op, "Or", true, false); }
void xor_of(Op& op) { compared(op, "Xor", true, false); }
void not_of(Op& op) {
  const Order order = op.order_of(0);
  op.give(0, op.add("Not", {op.condition(0, order)}), order, true);
}

void where_of(Op& op) {
  const int rank = op.result().shape.rank();
  const Order order = plain_order(rank);
  const auto plain = [&](int i) { return op.input(i); };
  op.give(op.add("Where", {op.condition(0, plain_order(op.rank(0))), plain(1), plain(2)}), order);
}

void cast_of(Op& op) {
  const Operand in = operand(op);
  op.give(0, op.cast(in.x, op.result().dtype), in.order, op.result().dtype == DType::boolean);
}

// An order after axes went away.
Order without(const Order& order, const std::set<int64_t>& gone) {
  Order left;
  for (const int axis : order) {
    if (gone.count(axis) != 0) continue;
    int place = axis;
    for (const int64_t each : gone) place -= each < axis ? 1 : 0;
    left.push_back(place);
  }
  return left;
}

// Axes counted from 0; those of none are all.
std::set<int64_t> axes_of(Op& op, const std::vector<int64_t>& given) {
  const int rank = op.rank(0);
  std::set<int64_t> axes;
  for (const int64_t axis : given) axes.insert(axis < 0 ? axis + rank : axis);
  for (int64_t axis = 0; given.empty() && axis < rank; ++axis) axes.insert(axis);
  return axes;
}

std::string reduced(Op& op, const char* operator_name, const Operand& in,
                    const std::set<int64_t>& axes, bool keepdims) {
  std::vector<int64_t> places;
  for (const int64_t axis : axes) places.push_back(op.place_of(in.order, axis));
  return op.add(operator_name, {in.x, op.integers(places)},
                {{"keepdims", attribute(int64_t{keepdims})}});
}

template <const char* operator_name>
void reduction_of(Op& op) {
  const auto& a = op.attrs<ReduceOptions>();
  const std::set<int64_t> axes = axes_of(op, a.axes);
  Operand in = operand(op);
  // Sums and means of small integers and truths have another type.
  if (op.type(0).dtype != op.result().dtype) in.x = op.cast(in.x, op.result().dtype);
  op.give(reduced(op, operator_name, in, axes, a.keepdims),
          a.keepdims ? in.order : without(in.order, axes));
}

const char* norm_operator(Op& op, double p) {
  if (p != 1.0 && p != 2.0) op.fail("such files have norms of the exponents 1 and 2 alone");
  return p == 1.0 ? "ReduceL1" : "ReduceL2";
}
void norm_of(Op& op) {
  const auto& a = op.attrs<NormOptions>();
  const std::set<int64_t> axes = axes_of(op, a.axes);
  const Operand in = operand(op);
  op.give(reduced(op, norm_operator(op, a.p), in, axes, a.keepdims),
          a.keepdims ? in.order : without(in.order, axes));
}

void variance_of(Op& op) {
  const auto& a = op.attrs<VarianceOptions>();
  const std::set<int64_t> axes = axes_of(op, a.axes);
  const Operand in = operand(op);
  double count = 1.0;
  for (const int64_t axis : axes) {
    const int64_t size = op.shape(0)[static_cast<int>(axis)];
    if (is_of_batch(size)) op.fail("such files have it without the open batch alone");
    count *= static_cast<double>(size);
  }
  const std::string mean = reduced(op, "ReduceMean", in, axes, true);
  const std::string apart = op.add("Sub", {in.x, mean});
  const Operand squares{op.add("Mul", {apart, apart}), in.order};
  const std::string sum = reduced(op, "ReduceSum", squares, axes, a.keepdims);
  std::string y = op.add("Mul", {sum, op.number(1.0 / (count - a.correction))});
  if (op.name() == "standard_deviation") y = op.add("Sqrt", {y});
  op.give(y, a.keepdims ? in.order : without(in.order, axes));
}

void normalize_of(Op& op) {
  const auto& a = op.attrs<NormalizeOptions>();
  const std::set<int64_t> axes = axes_of(op, {a.axis});
  const Operand in = operand(op);
  const std::string norm = reduced(op, norm_operator(op, a.p), in, axes, true);
  const std::string divisor = op.add("Max", {norm, op.number(a.epsilon)});
  op.give(op.add("Div", {in.x, divisor}), in.order);
  if (op.is_read(1)) {
    op.give(1, reduced(op, norm_operator(op, a.p), in, axes, false), without(in.order, axes));
  }
}

constexpr char kReduceSum[] = "ReduceSum";
constexpr char kReduceMean[] = "ReduceMean";
constexpr char kReduceMax[] = "ReduceMax";
constexpr char kReduceMin[] = "ReduceMin";
constexpr char kReduceProd[] = "ReduceProd";
constexpr char kReduceLogSumExp[] = "ReduceLogSumExp";

void argmax_of(Op& op) {
  const auto& a = op.attrs<ArgmaxOptions>();
  if (a.flat) op.fail("such files have it along an axis alone");
  const bool is_max = op.name() == "argmax";
  const std::string y =
      op.add(is_max ? "ArgMax" : "ArgMin", {op.input(0)},
             {{"axis", attribute(a.axis)}, {"keepdims", attribute(int64_t{a.keepdims})}});
  op.give(op.cast(y, DType::i32));
}

void softmax_of(Op& op) {
  const Operand in = operand(op);
  const int64_t axis = op.place_of(in.order, op.attrs<SoftmaxOptions>().axis);
  const bool is_log = op.name() == "log_softmax";
  op.give(op.add(is_log ? "LogSoftmax" : "Softmax", {in.x}, {{"axis", attribute(axis)}}), in.order);
}

void cumsum_of(Op& op) {
  const auto& a = op.attrs<CumsumOptions>();
  op.give(op.add("CumSum", {op.input(0), op.number(static_cast<double>(a.axis), DType::i64)},
                 {{"reverse", attribute(int64_t{a.reverse})}}));
}

}  // namespace

std::span<const WriteRule> element_writers() {
  static const std::vector<WriteRule> rules = [] {
    std::vector<WriteRule> made{
        {"leaky_relu", leaky_relu_of},
        {"elu", elu_of},
        {"celu", celu_of},
        {"gelu", gelu_of},
        {"hard_sigmoid", hard_sigmoid_of},
        {"softshrink", softshrink_of},
        {"hardshrink", hardshrink_of},
        {"relu6", relu6_of},
        {"clip", clip_of},
        {"hard_tanh", hard_tanh_of},
        {"swish", swish_of},
        {"square", square_of},
        {"rsqrt", rsqrt_of},
        {"log_sigmoid", log_sigmoid_of},
        {"softplus", softplus_of},
        {"affine", affine_of},
        {"pow", pow_of},
        {"erfc", erfc_of},
        {"exp2", exp2_of},
        {"expm1", expm1_of},
        {"log1p", log1p_of},
        {"log2", log2_of},
        {"log10", log10_of},
        {"logit", logit_of},
        {"threshold", threshold_of},
        {"trunc", trunc_of},
        {"frac", frac_of},
        {"remainder", remainder_of},
        {"fmod", remainder_of},
        {"clamp", clamp_of},
        {"norm", norm_of},
        {"variance", variance_of},
        {"standard_deviation", variance_of},
        {"normalize", normalize_of},
        {"random_uniform", random_uniform_of},
        {"random_normal", random_normal_of},
        {"prelu", prelu_of},
        {"add", pair_of<kAdd>},
        {"sub", pair_of<kSub>},
        {"mul", pair_of<kMul>},
        {"div", pair_of<kDiv>},
        {"maximum", pair_of<kMax>},
        {"minimum", pair_of<kMin>},
        {"pow_tensor", pair_of<kPow>},
        {"eq", eq_of},
        {"ne", ne_of},
        {"lt", lt_of},
        {"le", le_of},
        {"gt", gt_of},
        {"ge", ge_of},
        {"logical_and", and_of},
        {"logical_or", or_of},
        {"logical_xor", xor_of},
        {"logical_not", not_of},
        {"where", where_of},
        {"cast", cast_of},
        {"sum", reduction_of<kReduceSum>},
        {"mean", reduction_of<kReduceMean>},
        {"max", reduction_of<kReduceMax>},
        {"min", reduction_of<kReduceMin>},
        {"prod", reduction_of<kReduceProd>},
        {"logsumexp", reduction_of<kReduceLogSumExp>},
        {"argmax", argmax_of},
        {"argmin", argmax_of},
        {"softmax", softmax_of},
        {"log_softmax", softmax_of},
        {"cumsum", cumsum_of},
    };
    for (const auto& each : kUnary) made.push_back({each.first.data(), unary_of});
    return made;
  }();
  return rules;
}

}  // namespace thimble::importer::onnx
