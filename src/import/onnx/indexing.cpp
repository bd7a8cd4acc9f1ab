// Elements looked up by index.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

Value number(Node& node, int64_t n, DType dtype) {
  Item item;
  item.known = Array(std::vector<int64_t>{n}, {}).cast(dtype);
  return node.importer().value(item);
}

// Indices as i32, those below 0 counted from the end. size: of the axis.
Value index_of(Node& node, size_t i, int64_t size) {
  const Item& item = node.item(i);
  if (item.known) {
    std::vector<int64_t> all = Importer::known(item)->integers();
    std::vector<int32_t> held;
    for (const int64_t x : all) {
      node.require(x >= -size && x < size,
                   fmt::format("the index {} is not in an axis of {}", x, size));
      held.push_back(static_cast<int32_t>(x < 0 ? x + size : x));
    }
    Item made;
    made.known = Array(std::move(held), item.shape());
    return node.importer().value(made);
  }
  const Value index = as_type(node.value(i), DType::i32);
  return where(lt(index, number(node, 0, DType::i32)), add(index, number(node, size, DType::i32)),
               index);
}

Value flat(Value x) { return x.shape().rank() == 1 ? x : reshape(x, {x.shape().elements()}); }

void gather_node(Node& node) {
  const Item& table = node.item(0);
  const int rank = table.rank();
  const int axis = node.axis_of(node.integer("axis", 0), rank);
  const Shape index_shape = node.shape(1);
  if (table.weight && rank == 2 && axis == 0 && !node.is_known(1) &&
      !node.importer().is_function() && table.dtype() == DType::f32) {
    node.give(embedding(as_type(node.value(1), DType::i32), node.value(0)));
    return;
  }
  Order order;
  const Value x = node.stored(0, order);
  const int place = inverse(order)[static_cast<size_t>(axis)];
  if (node.is_known(1) && index_shape.rank() == 0) {
    // One slice.
    const int64_t size = x.shape()[place];
    int64_t at = Importer::known(node.item(1))->integers().at(0);
    at = at < 0 ? at + size : at;
    node.require(at >= 0 && at < size,
                 fmt::format("the index {} is not in an axis of {}", at, size));
    std::vector<int64_t> dims = x.shape().dims();
    dims.erase(dims.begin() + place);
    Order left;
    for (const int each : order) {
      if (each != axis) left.push_back(each > axis ? each - 1 : each);
    }
    node.give(0, reshape(slice(x, place, at, at + 1), Shape(dims)), left, table.is_bool);
    return;
  }
  const Value plain = node.value(0);
  const Value index = index_of(node, 1, plain.shape()[axis]);
  const Value y = index_select(plain, flat(index), {.axis = axis});
  std::vector<int64_t> dims(plain.shape().dims().begin(), plain.shape().dims().begin() + axis);
  dims.insert(dims.end(), index_shape.dims().begin(), index_shape.dims().end());
  dims.insert(dims.end(), plain.shape().dims().begin() + axis + 1, plain.shape().dims().end());
  node.require(dims.size() <= 8, "expected at most 8 dimensions");
  node.give(0, reshape(y, Shape(dims)), plain_order(static_cast<int>(dims.size())), table.is_bool);
}

void gather_elements(Node& node) {
  const Value x = node.value(0);
  const int axis = node.axis_of(node.integer("axis", 0), x.shape().rank());
  node.give(0, gather(x, index_of(node, 1, x.shape()[axis]), {.axis = axis}),
            plain_order(x.shape().rank()), node.item(0).is_bool);
}

// Known positions of several axes become one index each.
void gather_nd(Node& node) {
  const Value x = node.value(0);
  const Shape index = node.shape(1);
  const int64_t batches = node.integer("batch_dims", 0);
  node.require(node.is_known(1), "its indices must be known");
  node.require(index.rank() >= 1 && batches >= 0 && batches < index.rank() &&
                   batches + index[-1] <= x.shape().rank(),
               "its indices do not fit");
  const std::vector<int64_t> all = Importer::known(node.item(1))->integers();
  const auto depth = static_cast<size_t>(index[-1]);
  const auto first = static_cast<size_t>(batches);
  const std::vector<int64_t>& dims = x.shape().dims();
  int64_t rows = 1;
  for (size_t i = 0; i < first + depth; ++i) rows *= dims[i];
  int64_t each = 1;  // index tuples of one batch
  for (int i = static_cast<int>(batches); i + 1 < index.rank(); ++i) each *= index[i];
  std::vector<int32_t> flat_index;
  const size_t tuples = depth == 0 ? 0 : all.size() / depth;
  for (size_t t = 0; t < tuples; ++t) {
    int64_t at = static_cast<int64_t>(t) / std::max<int64_t>(each, 1);
    for (size_t i = 0; i < depth; ++i) {
      const int64_t size = dims[first + i];
      const int64_t given = all[t * depth + i];
      const int64_t one = given < 0 ? given + size : given;
      node.require(one >= 0 && one < size,
                   fmt::format("the index {} is not in an axis of {}", given, size));
      at = at * size + one;
    }
    flat_index.push_back(static_cast<int32_t>(at));
  }
  std::vector<int64_t> shape{rows};
  shape.insert(shape.end(), dims.begin() + static_cast<int64_t>(first + depth), dims.end());
  Item made;
  made.known = Array(std::move(flat_index));
  const Value y = index_select(reshape(x, Shape(shape)), node.importer().value(made), {.axis = 0});
  std::vector<int64_t> result(index.dims().begin(), index.dims().end() - 1);
  result.insert(result.end(), dims.begin() + static_cast<int64_t>(first + depth), dims.end());
  node.give(0, reshape(y, Shape(result)), plain_order(static_cast<int>(result.size())),
            node.item(0).is_bool);
}

void scatter_elements(Node& node) {
  const Value x = node.value(0);
  const int axis = node.axis_of(node.integer("axis", 0), x.shape().rank());
  const Value index = index_of(node, 1, x.shape()[axis]);
  const Value updates = node.value(2);
  const std::string reduction = node.text("reduction", "none");
  if (reduction == "add") {
    node.give(scatter_add(x, index, updates, {.axis = axis}));
  } else if (reduction == "none") {
    node.give(scatter(x, index, updates, {.axis = axis}));
  } else {
    node.fail("thimble scatters by replacing or adding alone");
  }
}

// Known positions: rows of the tensor, flattened, are replaced or added to.
void scatter_nd(Node& node) {
  const Value x = node.value(0);
  const Shape index = node.shape(1);
  node.require(node.is_known(1), "its indices must be known");
  node.require(index.rank() >= 1 && index[-1] >= 1 && index[-1] <= x.shape().rank(),
               "its indices do not fit");
  const std::string reduction = node.text("reduction", "none");
  node.require(reduction == "none" || reduction == "add",
               "thimble scatters by replacing or adding alone");
  const std::vector<int64_t> all = Importer::known(node.item(1))->integers();
  const auto depth = static_cast<size_t>(index[-1]);
  const std::vector<int64_t>& dims = x.shape().dims();
  int64_t rows = 1;
  for (size_t i = 0; i < depth; ++i) rows *= dims[i];
  const int64_t width = rows == 0 ? 0 : x.shape().elements() / rows;
  const auto rows_of_index = static_cast<int64_t>(all.size() / depth);
  node.require(width == 0 || rows_of_index <= (int64_t{1} << 24) / width,
               "its rows are too large to be replaced");
  std::vector<int32_t> places;
  for (size_t t = 0; t < all.size() / depth; ++t) {
    int64_t at = 0;
    for (size_t i = 0; i < depth; ++i) {
      const int64_t given = all[t * depth + i];
      const int64_t one = given < 0 ? given + dims[i] : given;
      node.require(one >= 0 && one < dims[i],
                   fmt::format("the index {} is not in an axis of {}", given, dims[i]));
      at = at * dims[i] + one;
    }
    for (int64_t i = 0; i < width; ++i) places.push_back(static_cast<int32_t>(at));
  }
  const auto count = static_cast<int64_t>(places.size()) / std::max<int64_t>(width, 1);
  Item made;
  made.known = Array(std::move(places), {count, width});
  const Value flat_x = reshape(x, {rows, width});
  const Value updates = reshape(node.value(2), {count, width});
  const Value where_to = node.importer().value(made);
  const Value y = reduction == "add" ? scatter_add(flat_x, where_to, updates, {.axis = 0})
                                     : scatter(flat_x, where_to, updates, {.axis = 0});
  node.give(reshape(y, x.shape()));
}

void one_hot_node(Node& node) {
  const std::vector<double> depth = node.numbers_of(1);
  node.require(depth.size() == 1 && depth[0] >= 1 && depth[0] <= 1 << 24, "expected one depth");
  const auto classes = static_cast<int64_t>(depth[0]);
  const int rank = node.rank(0) + 1;
  const int axis = node.axis_of(node.integer("axis", -1), rank);
  Value index = as_type(node.value(0), DType::i32);
  index = where(lt(index, number(node, 0, DType::i32)),
                add(index, number(node, classes, DType::i32)), index);
  Value y = one_hot(index, {.classes = classes});
  Order order = plain_order(rank);
  // The classes come last as they are stored.
  order.erase(std::find(order.begin(), order.end(), axis));
  order.push_back(axis);
  const DType dtype = node.item(2).dtype();
  const Value values = as_type(node.value(2), DType::f32);
  const Value off = slice(values, 0, 0, 1);
  const Value on = slice(values, 0, 1, 2);
  y = y * (on - off) + off;
  node.give(as_type(y, dtype), order);
}

void topk_node(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  const int axis = inverse(order)[static_cast<size_t>(
      node.axis_of(node.integer("axis", -1), static_cast<int>(order.size())))];
  const int64_t k = node.opset() >= 10 ? node.integer_of(1) : node.integer("k", 1);
  const Topk best = topk(x, {.k = k, .axis = axis, .largest = node.integer("largest", 1) != 0});
  node.give(0, best.values, order);
  if (node.gives(1)) node.give(1, cast(best.indices, DType::i64), order);
}

void reverse_sequence_node(Node& node) {
  const int64_t batch = node.integer("batch_axis", 1);
  const int64_t time = node.integer("time_axis", 0);
  const int rank = node.rank(0);
  node.require(rank >= 2 && ((batch == 0 && time == 1) || (batch == 1 && time == 0)),
               "expected axes 0 and 1");
  Order order = plain_order(rank);
  order[0] = static_cast<int>(batch);
  order[1] = static_cast<int>(time);
  node.give(reverse_sequence(node.value(0, order), as_type(node.value(1), DType::i32)), order);
}

}  // namespace

void add_indexing(Conversions& table) {
  table["Gather"] = {gather_node};
  table["GatherElements"] = {gather_elements};
  table["GatherND"] = {gather_nd};
  table["ScatterElements"] = {scatter_elements};
  table["Scatter"] = {scatter_elements};
  table["ScatterND"] = {scatter_nd};
  table["OneHot"] = {one_hot_node};
  table["TopK"] = {topk_node};
  table["ReverseSequence"] = {reverse_sequence_node};
}

}  // namespace thimble::importer::onnx
