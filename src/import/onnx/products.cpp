// Matrix products.
#include <thimble/ops.h>

#include <algorithm>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

// [N, C * H * W].
bool is_flat_image(const Item& x) {
  return x.flattened && x.rank() == 2 && x.flattened->image[0] == x.shape()[0] &&
         x.flattened->order[0] == 0;
}

// The weight of a dense layer, [units, features], from a matrix [features, units] (or its
// transpose) that multiplies x. Where x is a flattened image, the features follow its order.
Value dense_weight(Node& node, const Item& x, Item matrix, bool is_transposed) {
  if (matrix.order != plain_order(2)) {
    matrix.order = plain_order(2);
    is_transposed = !is_transposed;
  }
  const Order order = is_transposed ? Order{0, 1} : Order{1, 0};
  if (!is_flat_image(x)) return node.importer().value(matrix, order);
  // The features, which are C * H * W, become axes, and move.
  const Shape& image = x.flattened->image;
  const Shape shape = matrix.shape();
  const int64_t units = shape[is_transposed ? 0 : 1];
  std::vector<int64_t> dims(image.dims().begin() + 1, image.dims().end());
  const auto spread = static_cast<int>(dims.size());
  dims.insert(is_transposed ? dims.begin() : dims.end(), units);
  Item wide = matrix;
  wide.known = matrix.known->reshaped(Shape(dims));
  if (matrix.steps && matrix.steps->shape == shape) {
    Steps steps = *matrix.steps;
    steps.shape = Shape(dims);
    // The units are the first or the last axis in both.
    steps.axis = steps.axis == (is_transposed ? 0 : 1) ? (is_transposed ? 0 : spread) : -1;
    wide.steps = std::make_shared<const Steps>(std::move(steps));
  }
  wide.order = plain_order(spread + 1);
  Order axes{is_transposed ? 0 : spread};
  for (const int axis : x.flattened->order) {
    if (axis > 0) axes.push_back(is_transposed ? axis : axis - 1);
  }
  return node.importer().value(wide, axes, {units, shape.elements() / units});
}

bool is_matrix_weight(const Node& node, size_t i) {
  const Item& item = node.item(i);
  return item.weight && item.rank() == 2 && item.dtype() == DType::f32 &&
         item.shape().elements() > 0;
}

Value features_of(Node& node, size_t i) {
  const Item& item = node.item(i);
  return is_flat_image(item) ? item.value : node.value(i);
}

// The vector that the only reader of a product adds to it: the bias of a dense layer.
const NodeDef* bias_of(Node& node, int64_t units, Item& bias) {
  const NodeDef* const next = node.importer().only_reader(node.def().outputs.at(0));
  if (next == nullptr || next->op != "Add" || !next->domain.empty() || next->inputs.size() != 2 ||
      next->outputs.size() != 1) {
    return nullptr;
  }
  const std::string& other = next->inputs[next->inputs[0] == node.def().outputs[0] ? 1 : 0];
  const Item* const found = node.find_item(other);
  if (found == nullptr || !found->weight || found->shape() != Shape{units} ||
      found->dtype() != DType::f32) {
    return nullptr;
  }
  bias = *found;
  return next;
}

void matmul_node(Node& node) {
  if (node.rank(0) >= 2 && node.item(0).is_value() && is_matrix_weight(node, 1) &&
      !node.importer().is_function()) {
    const Value x = features_of(node, 0);
    const Value weight = dense_weight(node, node.item(0), node.item(1), false);
    Item bias;
    const NodeDef* const next = bias_of(node, weight.shape()[0], bias);
    Item made;
    made.value = dense(x, weight, next == nullptr ? Value() : node.importer().value(bias));
    made.order = plain_order(made.value.shape().rank());
    if (next != nullptr) {
      node.importer().mark_done(*next);
      node.give_as(*next, std::move(made));
    } else {
      node.give(0, std::move(made));
    }
    return;
  }
  // Axes that a transpose swaps are read as they are stored.
  const Item& b = node.item(1);
  const Item& a = node.item(0);
  const auto swapped = [](const Item& item) {
    if (!item.is_value() || item.flattened || item.rank() < 2) return false;
    Order order = plain_order(item.rank());
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return item.order == order;
  };
  MatmulAttrs attrs;
  attrs.transpose_a = swapped(a) && node.rank(1) >= 2;
  attrs.transpose_b = swapped(b) && node.rank(0) >= 2;
  const Value left = attrs.transpose_a ? a.value : node.value(0);
  const Value right = attrs.transpose_b ? b.value : node.value(1);
  node.give(matmul(left, right, attrs));
}

void gemm(Node& node) {
  const double alpha = node.number("alpha", 1.0);
  const double beta = node.number("beta", 1.0);
  const bool transpose_a = node.integer("transA", 0) != 0;
  const bool transpose_b = node.integer("transB", 0) != 0;
  node.require(node.rank(0) == 2 && node.rank(1) == 2, "expected two matrices");
  if (!transpose_a && alpha == 1.0 && beta == 1.0 && node.item(0).is_value() &&
      is_matrix_weight(node, 1) && !node.importer().is_function()) {
    const Value x = features_of(node, 0);
    const Value weight = dense_weight(node, node.item(0), node.item(1), transpose_b);
    const int64_t units = weight.shape()[0];
    const bool simple = !node.has(2) || node.shape(2) == Shape{units};
    const Value y = dense(x, weight, node.has(2) && simple ? node.value(2) : Value());
    node.give(simple ? y : y + node.value(2));
    return;
  }
  Value y = matmul(node.value(0), node.value(1),
                   {.transpose_a = transpose_a, .transpose_b = transpose_b});
  if (alpha != 1.0) y = y * alpha;
  if (node.has(2)) {
    const Value c = node.value(2);
    y = y + (beta == 1.0 ? c : c * beta);
  }
  node.give(y);
}

void einsum_node(Node& node) {
  std::vector<Value> operands;
  for (size_t i = 0; i < node.inputs(); ++i) operands.push_back(node.value(i));
  std::string equation = node.text("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  node.give(einsum(equation, operands));
}

}  // namespace

void add_products(Conversions& table) {
  table["MatMul"] = {matmul_node, false};
  table["Gemm"] = {gemm, false};
  table["Einsum"] = {einsum_node, false};
}

}  // namespace thimble::importer::onnx
