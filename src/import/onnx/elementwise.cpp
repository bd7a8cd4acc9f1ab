// Arithmetic, comparisons and logic, element by element.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <cmath>
#include <optional>

#include "import/onnx/steps.h"
#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

template <Value (*function)(Value)>
void unary(Node& node) {
  Item item = node.item(0);
  if (item.value) {
    item.value = function(item.value);
  } else {
    item = Item();
    Order order;
    item.value = function(node.stored(0, order));
    item.order = order;
  }
  node.give(0, std::move(item));
}

// The number that an input is: a constant of one element, which does not add dimensions.
std::optional<double> scalar_of(const Node& node, size_t i, size_t other) {
  const Item& item = node.item(i);
  if (!item.known || item.weight || item.known->elements() != 1) return std::nullopt;
  if (item.known->dtype() != DType::f32 || item.rank() > node.rank(other)) return std::nullopt;
  if (!node.item(other).is_value()) return std::nullopt;
  return static_cast<double>(item.known->floats()[0]);
}

// x with a number, the order and flattening of x kept.
template <class Function>
void with_number(Node& node, size_t x, const Function& function) {
  Item item = node.item(x);
  item.value = function(item.value);
  node.give(0, std::move(item));
}

Value divided(Value a, Value b) {
  if (is_floating(a.dtype())) return div(a, b);
  if (a.dtype() == DType::i32 || a.dtype() == DType::i64) {
    return floor_divide(sub(a, fmod(a, b)), b);  // towards 0
  }
  const DType dtype = a.dtype();
  return cast(divided(cast(a, DType::i64), cast(b, DType::i64)), dtype);
}

Value product(Value a, Value b) { return mul(a, b); }
Value difference(Value a, Value b) { return sub(a, b); }
Value total(Value a, Value b) { return add(a, b); }

template <Value (*function)(Value, Value)>
void binary(Node& node) {
  const Broadcast in = broadcast(node, {0, 1});
  node.give(function(in.values[0], in.values[1]), in.order);
}

template <Value (*function)(Value, Value)>
void predicate(Node& node) {
  const Broadcast in = broadcast(node, {0, 1});
  node.give(0, function(in.values[0], in.values[1]), in.order, true);
}

void add_node(Node& node) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (const auto number = scalar_of(node, 1 - i, i)) {
      return with_number(node, i, [&](Value x) { return x + *number; });
    }
  }
  binary<total>(node);
}

void sub_node(Node& node) {
  if (const auto number = scalar_of(node, 1, 0)) {
    return with_number(node, 0, [&](Value x) { return x + -*number; });
  }
  binary<difference>(node);
}

void mul_node(Node& node) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (const auto number = scalar_of(node, 1 - i, i)) {
      return with_number(node, i, [&](Value x) { return x * *number; });
    }
  }
  binary<product>(node);
}

void div_node(Node& node) {
  if (const auto number = scalar_of(node, 1, 0)) {
    return with_number(node, 0, [&](Value x) { return x / *number; });
  }
  binary<divided>(node);
}

void pow_node(Node& node) {
  node.require(is_floating(node.item(0).dtype()), "thimble has no powers of integers");
  if (const auto number = scalar_of(node, 1, 0)) {
    return with_number(node, 0, [&](Value x) {
      if (*number == 2.0) return square(x);
      if (*number == 0.5) return sqrt(x);
      return pow(x, *number);
    });
  }
  const Broadcast in = broadcast(node, {0, 1});
  node.give(pow(in.values[0], as_type(in.values[1], in.values[0].dtype())), in.order);
}

void mod_node(Node& node) {
  const bool as_c = node.integer("fmod", 0) != 0;
  const Broadcast in = broadcast(node, {0, 1});
  const DType dtype = in.values[0].dtype();
  const bool widens = !is_floating(dtype) && dtype != DType::i32 && dtype != DType::i64;
  const Value a = widens ? cast(in.values[0], DType::i64) : in.values[0];
  const Value b = widens ? cast(in.values[1], DType::i64) : in.values[1];
  node.give(as_type(as_c ? fmod(a, b) : remainder(a, b), dtype), in.order);
}

// Any number of inputs.
template <Value (*function)(Value, Value)>
void folded(Node& node) {
  std::vector<size_t> all;
  for (size_t i = 0; i < node.inputs(); ++i) all.push_back(i);
  node.require(!all.empty(), "expected at least one input");
  const Broadcast in = broadcast(node, all);
  Value result = in.values[0];
  for (size_t i = 1; i < in.values.size(); ++i) result = function(result, in.values[i]);
  if (node.op() == "Mean") result = result / static_cast<double>(in.values.size());
  node.give(result, in.order);
}

void where_node(Node& node) {
  const Broadcast in = broadcast(node, {0, 1, 2});
  node.give(0, where(in.values[0], in.values[1], in.values[2]), in.order, node.item(1).is_bool);
}

void not_node(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  node.give(0, logical_not(x), order, true);
}

void bit_shift(Node& node) {
  const Broadcast in = broadcast(node, {0, 1});
  const bool left = node.text("direction", "LEFT") == "LEFT";
  node.give(left ? bitwise_left_shift(in.values[0], in.values[1])
                 : bitwise_right_shift(in.values[0], in.values[1]),
            in.order);
}

void is_nan(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  node.give(0, ne(x, x), order, true);
}

void is_inf(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  Item infinite;
  infinite.known = Array(std::vector<float>{INFINITY}, {}).cast(x.dtype());
  const Value most = node.importer().value(infinite);
  const bool above = node.integer("detect_positive", 1) != 0;
  const bool below = node.integer("detect_negative", 1) != 0;
  Value found = ne(x, x);
  found = logical_and(found, logical_not(found));
  if (above) found = logical_or(found, eq(x, most));
  if (below) found = logical_or(found, eq(-x, most));
  node.give(0, found, order, true);
}

Value bounded_by_values(Value x, Value low, Value high) {
  if (is_floating(x.dtype())) return clamp(x, low, high);
  if (low) x = maximum(x, low);
  if (high) x = minimum(x, high);
  return x;
}

void relu_node(Node& node) {
  if (are_bounds_of_steps(node, 0.0, INFINITY)) return node.give(0, node.item(0));
  unary<relu>(node);
}

void clip_node(Node& node) {
  const auto bound = [&](size_t i, const char* name) -> std::optional<double> {
    if (node.opset() < 11) {
      return node.has_attribute(name) ? std::optional(node.number(name, 0.0)) : std::nullopt;
    }
    return node.has(i) && node.is_known(i) ? std::optional(node.number_of(i)) : std::nullopt;
  };
  const std::optional<double> low = bound(1, "min");
  const std::optional<double> high = bound(2, "max");
  const bool computed = node.opset() >= 11 &&
                        ((node.has(1) && !node.is_known(1)) || (node.has(2) && !node.is_known(2)));
  Item item = node.item(0);
  if (low && !computed && are_bounds_of_steps(node, *low, high.value_or(INFINITY))) {
    return node.give(0, std::move(item));
  }
  item.value = node.stored(0, item.order);
  item.known.reset();
  item.weight.reset();
  item.flattened.reset();
  Value& x = item.value;
  if (computed || x.dtype() != DType::f32) {
    const Value least = node.opset() >= 11 ? node.optional(1) : Value();
    const Value most = node.opset() >= 11 ? node.optional(2) : Value();
    if (least || most) x = bounded_by_values(x, least, most);
  } else if (low && *low == 0.0 && high && *high == 6.0) {
    x = relu6(x);
  } else if (low && *low == 0.0 && (!high || std::isinf(*high))) {
    x = relu(x);
  } else if (low || high) {
    const double least = low ? *low : -INFINITY;
    const double most = high ? *high : INFINITY;
    // Where the bounds cross, the upper one holds.
    x = clip(x, {.low = std::min(least, most), .high = most});
  }
  node.give(0, std::move(item));
}

}  // namespace

void add_elementwise(Conversions& table) {
  table["Abs"] = {unary<abs>};
  table["Acos"] = {unary<acos>};
  table["Acosh"] = {unary<acosh>};
  table["Asin"] = {unary<asin>};
  table["Asinh"] = {unary<asinh>};
  table["Atan"] = {unary<atan>};
  table["Atanh"] = {unary<atanh>};
  table["Ceil"] = {unary<ceil>};
  table["Cos"] = {unary<cos>};
  table["Cosh"] = {unary<cosh>};
  table["Erf"] = {unary<erf>};
  table["Exp"] = {unary<exp>};
  table["Floor"] = {unary<floor>};
  table["Log"] = {unary<log>};
  table["Neg"] = {unary<neg>};
  table["Reciprocal"] = {unary<reciprocal>};
  table["Round"] = {unary<round>};
  table["Sign"] = {unary<sign>};
  table["Sin"] = {unary<sin>};
  table["Sinh"] = {unary<sinh>};
  table["Sqrt"] = {unary<sqrt>};
  table["Tan"] = {unary<tan>};
  table["Tanh"] = {unary<tanh>};
  table["Sigmoid"] = {unary<sigmoid>};
  table["Relu"] = {relu_node};
  table["Softsign"] = {unary<softsign>};
  table["Mish"] = {unary<mish>};
  table["HardSwish"] = {unary<hard_swish>};
  table["BitwiseNot"] = {unary<bitwise_not>};
  table["Add"] = {add_node};
  table["Sub"] = {sub_node};
  table["Mul"] = {mul_node};
  table["Div"] = {div_node};
  table["Pow"] = {pow_node};
  table["Mod"] = {mod_node};
  table["Max"] = {folded<maximum>};
  table["Min"] = {folded<minimum>};
  table["Sum"] = {folded<total>};
  table["Mean"] = {folded<total>};
  table["Equal"] = {predicate<eq>};
  table["Less"] = {predicate<lt>};
  table["LessOrEqual"] = {predicate<le>};
  table["Greater"] = {predicate<gt>};
  table["GreaterOrEqual"] = {predicate<ge>};
  table["And"] = {predicate<logical_and>};
  table["Or"] = {predicate<logical_or>};
  table["Xor"] = {predicate<logical_xor>};
  table["Not"] = {not_node};
  table["BitwiseAnd"] = {binary<bitwise_and>};
  table["BitwiseOr"] = {binary<bitwise_or>};
  table["BitwiseXor"] = {binary<bitwise_xor>};
  table["BitShift"] = {bit_shift};
  table["Where"] = {where_node};
  table["IsNaN"] = {is_nan};
  table["IsInf"] = {is_inf};
  table["Clip"] = {clip_node};
}

}  // namespace thimble::importer::onnx
