// Constants, types, and what passes a tensor on.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

constexpr int64_t kMostKnown = int64_t{1} << 24;  // elements

void constant(Node& node) {
  if (const Attribute* const given = node.find("value")) {
    node.give_known(0, given->tensor.values, given->tensor.is_bool);
  } else if (node.has_attribute("value_float")) {
    node.give_known(
        0, Array(std::vector<float>{static_cast<float>(node.number("value_float", 0))}, {}));
  } else if (node.has_attribute("value_int")) {
    node.give_known(0, Array(std::vector<int64_t>{node.integer("value_int", 0)}, {}));
  } else if (node.has_attribute("value_floats")) {
    const std::vector<double> given_numbers = node.numbers("value_floats");
    node.give_known(0, Array(std::vector<float>(given_numbers.begin(), given_numbers.end())));
  } else if (node.has_attribute("value_ints")) {
    node.give_known(0, Array(node.integers("value_ints")));
  } else {
    node.fail("expected a tensor of numbers as its value");
  }
}

// Dimensions that a tensor has, without the open batch.
bool is_fixed(const std::vector<int64_t>& dims) {
  return std::none_of(dims.begin(), dims.end(),
                      [](int64_t dim) { return dim != 0 && dim % kBatch == 0; });
}

void constant_of_shape(Node& node) {
  const std::vector<int64_t> dims = node.integers_of(0);
  node.require(dims.size() <= 8, "expected at most 8 dimensions");
  for (const int64_t dim : dims) node.require(dim >= 0, "expected dimensions of at least 0");
  const Attribute* const given = node.find("value");
  const Array one = given == nullptr ? Array(std::vector<float>{0.0F}, {}) : given->tensor.values;
  node.require(one.elements() == 1, "expected one number as the value");
  const bool is_bool = given != nullptr && given->tensor.is_bool;
  const Shape shape(dims);
  double elements = 1.0;
  for (const int64_t dim : dims) elements *= static_cast<double>(dim);
  if (!is_fixed(dims) || elements > static_cast<double>(kMostKnown)) {
    Item item;
    item.known = one.reshaped({});
    node.give(0, broadcast_to(node.importer().value(item), shape), plain_order(shape.rank()),
              is_bool);
    return;
  }
  const auto width = one.bytes().size();
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    bytes.insert(bytes.end(), one.bytes().begin(),
                 one.bytes().begin() + static_cast<int64_t>(width));
  }
  node.give_known(0, Array::of_bytes(one.dtype(), shape, std::move(bytes)), is_bool);
}

void shape_of(Node& node) {
  const std::vector<int64_t> dims = node.shape(0).dims();
  const auto rank = static_cast<int64_t>(dims.size());
  const auto limited = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = limited(node.integer("start", 0));
  const int64_t end = limited(node.integer("end", rank));
  std::vector<int64_t> part;
  for (int64_t i = start; i < end; ++i) part.push_back(dims[static_cast<size_t>(i)]);
  node.give_known(0, Array(std::move(part)), false, true);
}

void size_of(Node& node) {
  node.give_known(0, Array(std::vector<int64_t>{node.shape(0).elements()}, {}), false, true);
}

template <class T>
Array range_of(T start, T limit, T step, int64_t count) {
  static_cast<void>(limit);
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<T>(start + static_cast<T>(i) * step));
  return Array(std::move(numbers));
}

void range(Node& node) {
  const std::vector<double> start = node.numbers_of(0);
  const std::vector<double> limit = node.numbers_of(1);
  const std::vector<double> step = node.numbers_of(2);
  node.require(start.size() == 1 && limit.size() == 1 && step.size() == 1,
               "expected three numbers");
  node.require(step[0] != 0.0, "expected a step that is not 0");
  const double count = std::max(0.0, std::ceil((limit[0] - start[0]) / step[0]));
  node.require(count <= static_cast<double>(kMostKnown), "expected at most 2^24 numbers");
  const auto n = static_cast<int64_t>(count);
  const DType dtype = node.item(0).dtype();
  for (size_t i = 0; i < 3; ++i) {
    if (node.item(i).of_shape && has_open_batch(*Importer::known(node.item(i)))) {
      node.fail(
          "its numbers depend on the batch size, which is left open; fix it with the name of "
          "its dimension (--dim NAME=NUMBER)");
    }
  }
  if (is_floating(dtype)) {
    node.give_known(
        0,
        range_of(static_cast<float>(start[0]), 0.0F, static_cast<float>(step[0]), n).cast(dtype));
  } else {
    node.give_known(
        0, range_of(static_cast<int64_t>(start[0]), int64_t{0}, static_cast<int64_t>(step[0]), n)
               .cast(dtype));
  }
}

void eye_like(Node& node) {
  const Shape shape = node.shape(0);
  node.require(shape.rank() == 2 && is_fixed(shape.dims()), "expected a matrix of a fixed size");
  const int64_t diagonal = node.integer("k", 0);
  node.require(
      shape.elements() <= kMostKnown && std::abs(static_cast<double>(diagonal)) < kMostKnown,
      "it is too large");
  std::vector<float> numbers(static_cast<size_t>(shape.elements()), 0.0F);
  for (int64_t row = 0; row < shape[0]; ++row) {
    const int64_t column = row + diagonal;
    if (column < 0 || column >= shape[1]) continue;
    numbers[static_cast<size_t>(row * shape[1] + column)] = 1.0F;
  }
  ElementType type{node.item(0).dtype(), node.item(0).is_bool};
  if (node.has_attribute("dtype")) {
    const std::optional<ElementType> wanted = element_type(node.integer("dtype", 1));
    node.require(wanted.has_value(), "thimble has no elements of its type");
    type = *wanted;
  }
  node.give_known(0, Array(std::move(numbers), shape).cast(type.dtype), type.is_bool);
}

void identity(Node& node) { node.give(0, node.item(0)); }

void cast_to(Node& node, const ElementType& type) {
  node.require(type.dtype != DType::i4 || node.item(0).dtype() == DType::i4,
               "thimble does not let int4 wrap around");
  Item item = node.item(0);
  if (item.value) {
    if (type.is_bool && !item.is_bool) {
      item.value = logical_not(logical_not(item.value));
    } else if (item.value.dtype() != type.dtype) {
      item.value = cast(item.value, type.dtype);
    }
  } else if (item.dtype() != type.dtype || type.is_bool != item.is_bool) {
    const Array numbers = *Importer::known(item);
    if (item.of_shape && is_floating(type.dtype) && has_open_batch(numbers)) {
      node.fail(
          "its numbers depend on the batch size, which is left open; fix it with the name of "
          "its dimension (--dim NAME=NUMBER)");
    }
    const bool from_weight = item.weight != nullptr;
    if (from_weight) {
      node.give(0, as_type(node.value(0), type.dtype), plain_order(item.rank()), type.is_bool);
      return;
    }
    item.known =
        type.is_bool ? numbers.cast(DType::boolean).cast(DType::u8) : numbers.cast(type.dtype);
  }
  item.is_bool = type.is_bool;
  node.give(0, std::move(item));
}

void cast_node(Node& node) {
  const std::optional<ElementType> type = element_type(node.integer("to", 1));
  if (!type) node.fail("thimble has no elements of " + element_name(node.integer("to", 1)));
  cast_to(node, *type);
}

void cast_like(Node& node) { cast_to(node, {node.item(1).dtype(), node.item(1).is_bool}); }

void dropout_node(Node& node) {
  double ratio = node.number("ratio", 0.5);
  if (node.opset() >= 12 && node.has(1)) ratio = node.number_of(1);
  bool trains = true;
  if (node.opset() >= 12) {
    trains = node.has(2) && node.integer_of(2) != 0;
    // A model is imported to be trained: what the file has for inference trains, too.
    if (!node.importer().is_function()) trains = true;
  } else if (node.importer().is_function()) {
    trains = false;
  }
  Item item = node.item(0);
  if (node.importer().is_function() && trains && ratio > 0.0) {
    node.fail("its result depends on random numbers of another generator");
  }
  if (trains && ratio > 0.0) {
    if (!item.is_value()) {
      item = Item();
      item.value = node.stored(0, item.order);
    }
    item.value = dropout(item.value, {.p = ratio});
  }
  if (node.gives(1)) {
    Order order;
    const Value x = node.stored(0, order);
    node.give(1, logical_or(eq(x, x), ne(x, x)), order, true);
  }
  node.give(0, std::move(item));
}

// Hann, Hamming and Blackman windows of a known size.
void signal_window(Node& node) {
  constexpr double kTwoPi = 6.283185307179586;
  const int64_t size = node.integer_of(0);
  node.require(size >= 0 && size <= kMostKnown, "its size is below 0 or too large");
  node.require(node.integer("output_datatype", 1) == 1, "thimble has windows of float32 alone");
  const double period =
      static_cast<double>(node.integer("periodic", 1) != 0 ? size : std::max<int64_t>(size - 1, 1));
  double first = 0.5;
  double second = 0.5;
  double third = 0.0;
  if (node.op() == "HammingWindow") {
    first = 25.0 / 46.0;
    second = 1.0 - first;
  } else if (node.op() == "BlackmanWindow") {
    first = 0.42;
    third = 0.08;
  }
  std::vector<float> values;
  for (int64_t i = 0; i < size; ++i) {
    const double angle = kTwoPi * static_cast<double>(i) / period;
    values.push_back(
        static_cast<float>(first - second * std::cos(angle) + third * std::cos(2.0 * angle)));
  }
  node.give_known(0, Array(std::move(values)));
}

// Numbers of thimble's generator, not those of another program.
void random_node(Node& node) {
  node.require(node.integer("dtype", 1) == 1, "expected random numbers of float32");
  Value like;
  if (node.op().ends_with("Like")) {
    like = node.value(0);
    node.require(like.dtype() == DType::f32, "expected random numbers of float32");
  } else {
    Item zero;
    zero.known = Array(std::vector<float>{0.0F}, {});
    const std::vector<int64_t> dims = node.integers("shape");
    node.require(dims.size() <= 8, "expected at most 8 dimensions");
    for (const int64_t dim : dims) node.require(dim >= 0, "expected dimensions of at least 0");
    like = broadcast_to(node.importer().value(zero), Shape(dims));
  }
  if (node.op().starts_with("RandomUniform")) {
    node.give(
        random_uniform(like, {.low = node.number("low", 0.0), .high = node.number("high", 1.0)}));
  } else {
    node.give(random_normal(
        like, {.mean = node.number("mean", 0.0), .stddev = node.number("scale", 1.0)}));
  }
}

void if_node(Node& node) {
  const std::vector<int64_t> condition = node.integers_of(0);
  node.require(condition.size() == 1, "expected one condition");
  const Attribute* const branch = node.find(condition[0] != 0 ? "then_branch" : "else_branch");
  if (branch == nullptr || branch->graph == nullptr) node.fail("its branch is missing");
  const std::vector<Item> items = node.add_graph(*branch->graph);
  for (size_t i = 0; i < items.size(); ++i) node.give(i, items[i]);
}

}  // namespace

void add_constants(Conversions& table) {
  table["Constant"] = {constant, false};
  table["ConstantOfShape"] = {constant_of_shape, false};
  table["Shape"] = {shape_of, false};
  table["Size"] = {size_of, false};
  table["Range"] = {range, false};
  table["EyeLike"] = {eye_like, false};
  table["Identity"] = {identity, false};
  table["Cast"] = {cast_node, false};
  table["CastLike"] = {cast_like, false};
  table["Dropout"] = {dropout_node, false};
  for (const char* const name :
       {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}) {
    table[name] = {random_node, false};
  }
  table["If"] = {if_node, false};
  for (const char* const name : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
    table[name] = {signal_window, false};
  }
}

}  // namespace thimble::importer::onnx
