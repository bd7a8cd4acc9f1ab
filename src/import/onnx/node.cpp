#include "import/onnx/node.h"

#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/json/parse.h"

namespace thimble::importer::onnx {
namespace {

// The shape with leading axes of 1.
Shape padded(const Shape& shape, int rank) {
  std::vector<int64_t> dims(static_cast<size_t>(rank - shape.rank()), 1);
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape(std::move(dims));
}

// Without leading axes of 1.
Shape trimmed(const Shape& shape) {
  auto first = shape.dims().begin();
  while (first != shape.dims().end() && *first == 1) ++first;
  return Shape(std::vector<int64_t>(first, shape.dims().end()));
}

}  // namespace

void Node::fail(const std::string& what) const { throw Error(importer_.path(), what); }

const Item& Node::item(size_t i) const {
  if (!has(i)) fail(fmt::format("input {} is missing", i));
  const Item* const found = scope_.find(def_.inputs[i]);
  if (found == nullptr) {
    fail(fmt::format("no node before it gives {}", io::printable(def_.inputs[i])));
  }
  return *found;
}

Value Node::stored(size_t i, Order& order) {
  const Item& input = item(i);
  if (!input.is_value()) {
    order = plain_order(input.rank());
    return importer_.value(input);
  }
  if (input.flattened) {
    order = input.order;
    return importer_.value(input);
  }
  order = input.order;
  return input.value;
}

std::vector<int64_t> Node::integers_of(size_t i) const {
  const std::optional<Array> numbers = Importer::known(item(i));
  if (!numbers) {
    fail(fmt::format("input {} must be a constant, but it is computed from the model's inputs", i));
  }
  if (is_floating(numbers->dtype())) fail(fmt::format("input {} must have integers", i));
  return numbers->integers();
}

std::vector<double> Node::numbers_of(size_t i) const {
  const std::optional<Array> numbers = Importer::known(item(i));
  if (!numbers) {
    fail(fmt::format("input {} must be a constant, but it is computed from the model's inputs", i));
  }
  if (numbers->dtype() == DType::f64) {
    const auto all = numbers->as<double>();
    return {all.begin(), all.end()};
  }
  if (!is_floating(numbers->dtype())) {
    const std::vector<int64_t> all = numbers->integers();
    return {all.begin(), all.end()};
  }
  const std::vector<float> all = numbers->floats();
  return {all.begin(), all.end()};
}

int64_t Node::integer_of(size_t i) const {
  const std::vector<int64_t> all = integers_of(i);
  require(all.size() == 1, fmt::format("input {} must be one number", i));
  return all[0];
}

double Node::number_of(size_t i) const {
  const std::vector<double> all = numbers_of(i);
  require(all.size() == 1, fmt::format("input {} must be one number", i));
  return all[0];
}

const Attribute* Node::find(const char* name) const {
  const auto found = def_.attributes.find(name);
  return found == def_.attributes.end() ? nullptr : &found->second;
}

double Node::number(const char* name, double otherwise) const {
  const Attribute* const found = find(name);
  return found == nullptr ? otherwise : found->number;
}
int64_t Node::integer(const char* name, int64_t otherwise) const {
  const Attribute* const found = find(name);
  return found == nullptr ? otherwise : found->integer;
}
std::string Node::text(const char* name, const std::string& otherwise) const {
  const Attribute* const found = find(name);
  return found == nullptr ? otherwise : found->text;
}
std::vector<int64_t> Node::integers(const char* name) const {
  const Attribute* const found = find(name);
  return found == nullptr ? std::vector<int64_t>() : found->integers;
}
std::vector<double> Node::numbers(const char* name) const {
  const Attribute* const found = find(name);
  return found == nullptr ? std::vector<double>() : found->numbers;
}
std::vector<std::string> Node::texts(const char* name) const {
  const Attribute* const found = find(name);
  return found == nullptr ? std::vector<std::string>() : found->texts;
}

int Node::axis_of(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    fail(fmt::format("there is no axis {} in a tensor of {} dimensions", axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int64_t> Node::axes(size_t i, int64_t since) const {
  if (opset_ < since) return integers("axes");
  return has(i) ? integers_of(i) : std::vector<int64_t>();
}

void Node::give(size_t output, Item item) {
  if (!gives(output)) return;
  if (!scope_.items.insert_or_assign(def_.outputs[output], std::move(item)).second) {
    fail(fmt::format("two nodes give {}", io::printable(def_.outputs[output])));
  }
}

void Node::give(size_t output, Value value, const Order& order, bool is_bool) {
  Item made;
  made.value = value;
  made.order = order;
  made.is_bool = is_bool;
  give(output, std::move(made));
}

void Node::give_known(size_t output, Array values, bool is_bool, bool of_shape) {
  Item made;
  made.known = std::move(values);
  made.is_bool = is_bool;
  made.of_shape = of_shape;
  give(output, std::move(made));
}

void Node::give_as(const NodeDef& other, Item item) {
  scope_.items.insert_or_assign(other.outputs.at(0), std::move(item));
}

Broadcast broadcast(Node& node, const std::vector<size_t>& inputs) {
  int rank = 0;
  for (const size_t i : inputs) rank = std::max(rank, node.rank(i));
  // The order of the largest value decides, so that the least is moved.
  const Item* lead = nullptr;
  for (const size_t i : inputs) {
    const Item& item = node.item(i);
    if (!item.is_value() || item.rank() != rank) continue;
    if (lead == nullptr || item.value.shape().elements() > lead->value.shape().elements()) {
      lead = &item;
    }
  }
  Broadcast made{.values = {}, .order = lead == nullptr ? plain_order(rank) : lead->order};
  const bool plain = made.order == plain_order(rank);
  for (const size_t i : inputs) {
    const Item& item = node.item(i);
    if (item.rank() == rank) {
      const Shape shape = ordered(item.shape(), made.order);
      const bool is_lead = &item == lead;
      made.values.push_back(node.importer().value(
          item, made.order, is_lead || item.is_value() ? shape : trimmed(shape)));
    } else if (plain) {
      made.values.push_back(node.importer().value(item));
    } else {
      // Leading axes of 1 are put in their places.
      const int missing = rank - item.rank();
      Order order;
      for (const int axis : made.order) {
        if (axis >= missing) order.push_back(axis - missing);
      }
      const Shape shape = ordered(padded(item.shape(), rank), made.order);
      made.values.push_back(node.importer().value(item, order, trimmed(shape)));
    }
  }
  bool full = false;
  for (const Value& value : made.values) full = full || value.shape().rank() == rank;
  if (!full) made.values[0] = reshape(made.values[0], padded(made.values[0].shape(), rank));
  return made;
}

Value as_type(Value x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

}  // namespace thimble::importer::onnx
