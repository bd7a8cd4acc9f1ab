// Other shapes for the same elements, and other orders of axes: these move nothing where they can.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>
#include <numeric>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

// An initializer keeps its name under another shape.
bool reshape_weight(Node& node, const Shape& shape) {
  const Item& item = node.item(0);
  if (!item.weight || item.order != plain_order(item.rank())) return false;
  Item made = item;
  made.known = item.known->reshaped(shape);
  made.order = plain_order(shape.rank());
  node.give(0, std::move(made));
  return true;
}

// The axes of x that become the same axes of the result: those from the first of them on.
struct Group {
  std::vector<int> from;
  std::vector<int> to;
};

// Splits a reshape into as many independent ones as there are; empty: there are dimensions of 0.
std::vector<Group> groups_of(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  int i = 0;
  int j = 0;
  while (i < from.rank() && j < to.rank()) {
    Group group;
    int64_t before = from[i];
    int64_t after = to[j];
    group.from.push_back(i++);
    group.to.push_back(j++);
    while (before != after) {
      if (before == 0 || after == 0) return {};
      if (before < after && i < from.rank()) {
        before *= from[i];
        group.from.push_back(i++);
      } else if (after < before && j < to.rank()) {
        after *= to[j];
        group.to.push_back(j++);
      } else {
        return {};
      }
    }
    groups.push_back(std::move(group));
  }
  if (groups.empty()) return {};
  for (; i < from.rank(); ++i) groups.back().from.push_back(i);  // of size 1
  for (; j < to.rank(); ++j) groups.back().to.push_back(j);
  return groups;
}

// A reshape whose groups of axes lie side by side as they are stored: nothing moves.
bool reshape_in_place(Node& node, const Shape& shape) {
  const Item& item = node.item(0);
  if (!item.is_value() || item.flattened) return false;
  const Shape from = item.shape();
  std::vector<std::pair<int, const Group*>> stored;  // groups by their first place
  int wide_axes = 0;
  const std::vector<Group> groups = groups_of(from, shape);
  if (groups.empty()) return false;
  std::vector<int> places(item.order.size(), -1);  // among the axes of more than one element
  for (const int axis : item.order) {
    if (from[axis] != 1) places[static_cast<size_t>(axis)] = wide_axes++;
  }
  for (const Group& group : groups) {
    int first = -1;
    int next = -1;
    for (const int axis : group.from) {
      const int place = places[static_cast<size_t>(axis)];
      if (place < 0) continue;
      if (first < 0) first = next = place;
      if (place != next++) return false;
    }
    stored.emplace_back(first < 0 ? wide_axes : first, &group);
  }
  std::stable_sort(stored.begin(), stored.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Item made;
  std::vector<int64_t> dims;
  for (const auto& [place, group] : stored) {
    for (const int axis : group->to) {
      made.order.push_back(axis);
      dims.push_back(shape[axis]);
    }
  }
  made.value = reshape(item.value, Shape(dims));
  made.is_bool = item.is_bool;
  node.give(0, std::move(made));
  return true;
}

// An image under another shape, its elements left in their places until they are needed in order.
bool reshape_image(Node& node, const Shape& shape) {
  const Item& item = node.item(0);
  if (!item.is_value() || (!item.flattened && item.order == plain_order(item.rank()))) return false;
  Item made = item;
  if (!item.flattened) made.flattened = Flattened{.image = item.shape(), .order = item.order};
  if (made.flattened->image == shape) {
    made.order = made.flattened->order;
    made.value = reshape(item.value, ordered(shape, made.order));
    made.flattened.reset();
  } else {
    made.order = plain_order(shape.rank());
    made.value = reshape(item.value, shape);
  }
  node.give(0, std::move(made));
  return true;
}

void to_shape(Node& node, const Shape& shape) {
  if (node.shape(0) == shape) {
    node.give(0, node.item(0));
    return;
  }
  if (reshape_weight(node, shape) || reshape_in_place(node, shape) || reshape_image(node, shape)) {
    return;
  }
  node.give(0, reshape(node.value(0), shape), plain_order(shape.rank()), node.item(0).is_bool);
}

// Puts the open batch in the place of the one that the file fixes. Where the axes behind the batch
// stay as they are, it is the one before them; else the one with as many elements before it.
void open_batch(const Shape& from, int64_t batch, std::vector<int64_t>& dims) {
  int axis = 0;
  int64_t before = 1;
  for (; from[axis] % kBatch != 0; ++axis) before *= from[axis];
  const auto behind = static_cast<size_t>(from.rank() - axis - 1);
  const bool stay = dims.size() > behind && std::equal(dims.end() - static_cast<int64_t>(behind),
                                                       dims.end(), from.dims().begin() + axis + 1);
  int64_t passed = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool here = stay ? i + behind + 1 == dims.size() : passed == before;
    if (here && dims[i] % batch == 0) {
      dims[i] = dims[i] / batch * kBatch;
      return;
    }
    passed *= dims[i];
  }
}

// The shape that a Reshape wants, its 0, -1 and a batch size that the file fixes filled in.
Shape wanted_shape(Node& node) {
  const Shape from = node.shape(0);
  std::vector<int64_t> dims = node.integers_of(1);
  node.require(dims.size() <= 8, "expected at most 8 dimensions");
  const bool keeps_zero = node.integer("allowzero", 0) != 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !keeps_zero) {
      node.require(i < from.dims().size(), "a dimension of 0 stands for one that x does not have");
      dims[i] = from.dims()[i];
    }
  }
  int64_t elements = from.elements();
  // A batch size that the file fixes stands for the open one.
  const int64_t batch = node.importer().fixed_batch();
  const bool is_open = batch > 0 && elements != 0 && elements % kBatch == 0 &&
                       std::none_of(dims.begin(), dims.end(),
                                    [](int64_t dim) { return dim != 0 && dim % kBatch == 0; });
  if (is_open) elements = elements / kBatch * batch;
  int64_t known = 1;
  for (const int64_t dim : dims) {
    node.require(dim >= -1, "expected dimensions of at least 0, or -1");
    if (dim > 0 && known > (int64_t{1} << 60) / dim) node.fail("its shape is too large");
    if (dim >= 0) known *= dim;
  }
  const auto open = std::find(dims.begin(), dims.end(), -1);
  if (open != dims.end()) {
    if (known == 0 || elements % known != 0) {
      node.fail(fmt::format("{} has another number of elements than {}", to_string(Shape(dims)),
                            to_string(from)));
    }
    *open = elements / known;
  }
  if (is_open) open_batch(from, batch, dims);
  return Shape(std::move(dims));
}

void reshape_node(Node& node) { to_shape(node, wanted_shape(node)); }

void flatten_node(Node& node) {
  const Shape from = node.shape(0);
  const int64_t given = node.integer("axis", 1);
  const int64_t axis = given < 0 ? given + from.rank() : given;
  node.require(axis >= 0 && axis <= from.rank(), "there is no such axis");
  int64_t rows = 1;
  for (int i = 0; i < axis; ++i) rows *= from[i];
  int64_t columns = 1;
  for (int i = static_cast<int>(axis); i < from.rank(); ++i) columns *= from[i];
  to_shape(node, {rows, columns});
}

// The item's elements with its axes numbered anew: places[i] is the old axis, -1 a new one of 1.
void renumber(Node& node, const std::vector<int>& places) {
  const Item& item = node.item(0);
  std::vector<int64_t> dims;
  for (const int axis : places) dims.push_back(axis < 0 ? 1 : item.shape()[axis]);
  const Shape shape(dims);
  if (!item.is_value() || item.flattened) return to_shape(node, shape);
  // Stored axes that stay, in their order; new ones come last, where they move nothing.
  Order order;
  std::vector<int64_t> stored;
  for (const int axis : item.order) {
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] != axis) continue;
      order.push_back(static_cast<int>(i));
      stored.push_back(dims[i]);
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= 0) continue;
    // After the axis that stands before it, so that plain orders stay plain.
    const auto before =
        i == 0 ? order.end() : std::find(order.begin(), order.end(), static_cast<int>(i) - 1);
    const auto at = before == order.end() ? order.begin() : before + 1;
    stored.insert(stored.begin() + (at - order.begin()), 1);
    order.insert(at, static_cast<int>(i));
  }
  Item made;
  made.value = reshape(item.value, Shape(stored));
  made.order = order;
  made.is_bool = item.is_bool;
  node.give(0, std::move(made));
}

void squeeze(Node& node) {
  const Shape from = node.shape(0);
  std::vector<int64_t> axes = node.axes(1, 13);
  std::vector<bool> gone(static_cast<size_t>(from.rank()), false);
  for (const int64_t axis : axes) {
    const int at = node.axis_of(axis, from.rank());
    node.require(from[at] == 1, "only axes of size 1 can be left out");
    gone[static_cast<size_t>(at)] = true;
  }
  std::vector<int> places;
  for (int i = 0; i < from.rank(); ++i) {
    if (axes.empty() ? from[i] != 1 : !gone[static_cast<size_t>(i)]) places.push_back(i);
  }
  renumber(node, places);
}

void unsqueeze(Node& node) {
  const std::vector<int64_t> axes = node.axes(1, 13);
  const int rank = node.rank(0) + static_cast<int>(axes.size());
  node.require(rank <= 8, "expected at most 8 dimensions");
  std::vector<int> places(static_cast<size_t>(rank), 0);
  for (const int64_t axis : axes) {
    int& place = places[static_cast<size_t>(node.axis_of(axis, rank))];
    node.require(place == 0, "an axis is named twice");
    place = -1;
  }
  int next = 0;
  for (int& place : places) {
    if (place == 0) place = next++;
  }
  renumber(node, places);
}

void transpose_node(Node& node) {
  Item item = node.item(0);
  const int rank = item.rank();
  std::vector<int64_t> axes = node.integers("perm");
  if (axes.empty()) {
    for (int i = rank - 1; i >= 0; --i) axes.push_back(i);
  }
  node.require(static_cast<int>(axes.size()) == rank, "expected a place for each axis");
  Order order;
  for (const int64_t axis : axes) order.push_back(node.axis_of(axis, rank));
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  node.require(sorted == plain_order(rank), "an axis is named twice");
  if (item.is_value() && !item.flattened) {
    // Axis i of the result is axis order[i] of x: the elements stay where they are.
    const Order places = inverse(order);
    for (int& axis : item.order) axis = places[static_cast<size_t>(axis)];
    node.give(0, std::move(item));
    return;
  }
  if (item.weight) {
    Order composed;
    for (const int axis : order) composed.push_back(item.order[static_cast<size_t>(axis)]);
    item.order = composed;
    node.give(0, std::move(item));
    return;
  }
  node.give(0, node.value(0, order), plain_order(rank), item.is_bool);
}

}  // namespace

void add_shapes(Conversions& table) {
  table["Reshape"] = {reshape_node};
  table["Flatten"] = {flatten_node};
  table["Squeeze"] = {squeeze};
  table["Unsqueeze"] = {unsqueeze};
  table["Transpose"] = {transpose_node};
}

}  // namespace thimble::importer::onnx
