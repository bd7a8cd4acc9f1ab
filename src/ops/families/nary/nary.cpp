#include "ops/families/nary/nary.h"

#include <fmt/format.h>

#include "ops/families/binary/broadcast.h"

namespace thimble::ops {
namespace {

// Whether the axis being added can be merged with the one added last, for every input.
bool continues(const nary_dims& d, const int* strides) {
  const int last = d.count - 1;
  for (int i = 0; i < NARY_MAX_INPUTS; ++i) {
    if (strides[i] != d.stride[i][last] * d.size[last]) return false;
  }
  return true;
}

}  // namespace

Shape broadcast_shape(const ir::InferContext& c, int first, int last) {
  Shape y;
  for (int i = first; i <= last; ++i) {
    if (!c.has(i)) continue;
    c.require(c.shape(i).rank() <= NARY_MAX_AXES,
              fmt::format("expected at most {} dimensions", int{NARY_MAX_AXES}));
    std::optional<Shape> common = common_shape(y, c.shape(i));
    c.require(common.has_value(),
              "expected shapes that broadcast: from the last dimension on, sizes are equal or one "
              "of them is 1");
    y = *std::move(common);
  }
  return y;
}

nary_dims nary_dims_of(const std::vector<const Shape*>& inputs, const Shape& y, int choice) {
  nary_dims d{};
  d.choice = choice;
  d.n = static_cast<int>(y.elements());
  if (d.n == 0) {
    d.count = 1;
    d.size[0] = 1;
    return d;
  }
  int next[NARY_MAX_INPUTS] = {1, 1, 1, 1};
  for (int axis = -1; axis >= -y.rank(); --axis) {
    const int size = static_cast<int>(y[axis]);
    if (size == 1) continue;
    int strides[NARY_MAX_INPUTS] = {};
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == nullptr || size_from_last(*inputs[i], axis) == 1) continue;
      strides[i] = next[i];
      next[i] *= size;
    }
    if (d.count > 0 && continues(d, strides)) {
      d.size[d.count - 1] *= size;
      continue;
    }
    d.size[d.count] = size;
    for (int i = 0; i < NARY_MAX_INPUTS; ++i) d.stride[i][d.count] = strides[i];
    ++d.count;
  }
  if (d.count == 0) {
    d.count = 1;
    d.size[0] = 1;
  }
  return d;
}

nary_dims nary_dims_of(const ir::KernelContext& c, int choice) {
  std::vector<const Shape*> shapes;
  for (const ir::TensorType* type : c.inputs) {
    shapes.push_back(type == nullptr ? nullptr : &type->shape);
  }
  return nary_dims_of(shapes, c.out(), choice);
}

}  // namespace thimble::ops
