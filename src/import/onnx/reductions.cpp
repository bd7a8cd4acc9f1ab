// Sums, means and the like over axes, and running sums.
#include <thimble/ops.h>

#include <algorithm>
#include <limits>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

using Reduce = Value (*)(Value, const ReduceOptions&);

Value sum_of(Value x, const ReduceOptions& o) {
  const DType dtype = x.dtype();
  return as_type(sum(x, o), dtype);
}
Value sum_abs(Value x, const ReduceOptions& o) { return sum_of(abs(x), o); }
Value sum_square(Value x, const ReduceOptions& o) { return sum_of(mul(x, x), o); }
Value length(Value x, const ReduceOptions& o) {
  return norm(x, {.axes = o.axes, .keepdims = o.keepdims});
}
Value log_sum(Value x, const ReduceOptions& o) { return log(sum(x, o)); }
// Of types other than f32 by way of it, where all their numbers are exact.
template <Reduce function>
Value exact(Value x, const ReduceOptions& o) {
  const DType dtype = x.dtype();
  if (dtype != DType::i8 && dtype != DType::u8) return function(x, o);
  return cast(function(cast(x, DType::f32), o), dtype);
}

// Over known integers, which may be large.
bool reduce_known(Node& node, const std::vector<int64_t>& axes, bool keepdims) {
  const Item& item = node.item(0);
  if (!item.known || is_floating(item.known->dtype()) || item.rank() != 1) return false;
  if (node.op() != "ReduceProd" && node.op() != "ReduceMax" && node.op() != "ReduceMin")
    return false;
  static_cast<void>(axes);
  const std::vector<int64_t> numbers = Importer::known(item)->integers();
  if (numbers.empty()) return false;
  int64_t result = numbers[0];
  for (size_t i = 1; i < numbers.size(); ++i) {
    const int64_t x = numbers[i];
    if (node.op() == "ReduceProd") {
      constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;
      node.require(x >= 0 && result >= 0 && (x == 0 || result <= kMost / x),
                   "its product is too large");
      result *= x;
    } else {
      result = node.op() == "ReduceMax" ? std::max(result, x) : std::min(result, x);
    }
  }
  const Array one(std::vector<int64_t>{result}, keepdims ? Shape{1} : Shape{});
  node.give_known(0, one.cast(item.known->dtype()), item.is_bool, item.of_shape);
  return true;
}

template <Reduce function>
void reduce(Node& node) {
  const int64_t since = node.op() == "ReduceSum" ? 13 : 18;
  std::vector<int64_t> axes = node.axes(1, since);
  const bool keepdims = node.integer("keepdims", 1) != 0;
  if (axes.empty() && node.integer("noop_with_empty_axes", 0) != 0) {
    // No axis is reduced, but the function of each element is taken.
    if (node.op() == "ReduceSum" || node.op() == "ReduceMean" || node.op() == "ReduceMax" ||
        node.op() == "ReduceMin" || node.op() == "ReduceProd") {
      node.give(0, node.item(0));
      return;
    }
    Order order;
    const Value x = node.stored(0, order);
    std::vector<int64_t> dims = x.shape().dims();
    dims.push_back(1);
    const Value y = function(reshape(x, Shape(dims)), {.axes = {-1}});
    node.give(y, order);
    return;
  }
  if (reduce_known(node, axes, keepdims)) return;
  Order order;
  const Value x = node.stored(0, order);
  const int rank = static_cast<int>(order.size());
  std::vector<bool> reduced(order.size(), axes.empty());
  for (const int64_t axis : axes) reduced[static_cast<size_t>(node.axis_of(axis, rank))] = true;
  std::vector<int64_t> places;
  for (size_t i = 0; i < order.size(); ++i) {
    if (reduced[static_cast<size_t>(order[i])]) places.push_back(static_cast<int64_t>(i));
  }
  if (places.empty() && rank == 0) places.clear();
  Value y = rank == 0 ? function(reshape(x, {1}), {.axes = {0}, .keepdims = false})
                      : function(x, {.axes = places, .keepdims = keepdims});
  if (rank == 0 || keepdims) {
    node.give(0, y, order, node.item(0).is_bool);
    return;
  }
  // The axes that are left, numbered anew.
  Order left;
  for (const int axis : order) {
    if (reduced[static_cast<size_t>(axis)]) continue;
    int number = 0;
    for (int i = 0; i < axis; ++i) number += reduced[static_cast<size_t>(i)] ? 0 : 1;
    left.push_back(number);
  }
  node.give(0, y, left, node.item(0).is_bool);
}

void arg(Node& node) {
  const bool largest = node.op() == "ArgMax";
  Order order;
  Value x = node.stored(0, order);
  const int rank = static_cast<int>(order.size());
  const int axis = node.axis_of(node.integer("axis", 0), rank);
  const int place = inverse(order)[static_cast<size_t>(axis)];
  const bool last = node.integer("select_last_index", 0) != 0;
  const bool keepdims = node.integer("keepdims", 1) != 0;
  if (last) x = flip(x, {.axes = {place}});
  Value y = largest ? argmax(x, {.axis = place, .keepdims = true})
                    : argmin(x, {.axis = place, .keepdims = true});
  y = cast(y, DType::i64);
  if (last) {
    Item most;
    most.known = Array(std::vector<int64_t>{x.shape()[place] - 1}, {});
    y = sub(node.importer().value(most), y);
  }
  if (!keepdims) {
    std::vector<int64_t> dims = y.shape().dims();
    dims.erase(dims.begin() + place);
    Order left;
    for (const int each : order) {
      if (each != axis) left.push_back(each > axis ? each - 1 : each);
    }
    node.give(reshape(y, Shape(dims)), left);
    return;
  }
  node.give(y, order);
}

void cumulative(Node& node) {
  Order order;
  Value x = node.stored(0, order);
  const std::vector<int64_t> axis = node.integers_of(1);
  node.require(axis.size() == 1, "expected one axis");
  const int at =
      inverse(order)[static_cast<size_t>(node.axis_of(axis[0], static_cast<int>(order.size())))];
  const bool reverse = node.integer("reverse", 0) != 0;
  const bool sums = node.op() == "CumSum";
  if (node.integer("exclusive", 0) != 0) {
    // Shifted by one, with what a sum or product of nothing is.
    const int64_t size = x.shape()[at];
    PadOptions more{.before = std::vector<int64_t>(order.size(), 0),
                    .after = std::vector<int64_t>(order.size(), 0),
                    .value = sums ? 0.0 : 1.0};
    (reverse ? more.after : more.before)[static_cast<size_t>(at)] = 1;
    x = pad(reverse ? slice(x, at, 1, size) : slice(x, at, 0, size - 1), more);
  }
  if (sums) {
    x = cumsum(x, {.axis = at, .reverse = reverse});
  } else {
    if (reverse) x = flip(x, {.axes = {at}});
    x = cumprod(x, {.axis = at});
    if (reverse) x = flip(x, {.axes = {at}});
  }
  node.give(x, order);
}

}  // namespace

void add_reductions(Conversions& table) {
  table["ReduceSum"] = {reduce<sum_of>};
  table["ReduceMean"] = {reduce<mean>};
  table["ReduceMax"] = {reduce<exact<max>>};
  table["ReduceMin"] = {reduce<exact<min>>};
  table["ReduceProd"] = {reduce<prod>};
  table["ReduceL1"] = {reduce<sum_abs>};
  table["ReduceL2"] = {reduce<length>};
  table["ReduceLogSum"] = {reduce<log_sum>};
  table["ReduceLogSumExp"] = {reduce<logsumexp>};
  table["ReduceSumSquare"] = {reduce<sum_square>};
  table["ArgMax"] = {arg};
  table["ArgMin"] = {arg};
  table["CumSum"] = {cumulative};
  table["CumProd"] = {cumulative};
}

}  // namespace thimble::importer::onnx
