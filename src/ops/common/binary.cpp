#include "ops/common/binary.h"

#include <fmt/format.h>

#include <algorithm>

namespace thimble::ops {
namespace {

// The size of an axis counted from the last (-1); axes beyond the first are of size 1.
int64_t size_from_last(const Shape& shape, int axis) {
  return axis < -shape.rank() ? 1 : shape[axis];
}

Shape broadcast_shape(const ir::InferContext& c) {
  const Shape& a = c.shape(0);
  const Shape& b = c.shape(1);
  const int rank = std::max(a.rank(), b.rank());
  c.require(rank <= BINARY_MAX_AXES,
            fmt::format("expected at most {} dimensions", BINARY_MAX_AXES));
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int axis = -1; axis >= -rank; --axis) {
    const int64_t of_a = size_from_last(a, axis);
    const int64_t of_b = size_from_last(b, axis);
    c.require(of_a == of_b || of_a == 1 || of_b == 1,
              "expected shapes that broadcast: from the last dimension on, sizes are equal or one "
              "of them is 1");
    dims[static_cast<size_t>(axis + rank)] = of_a == 1 ? of_b : of_a;
  }
  return Shape(std::move(dims));
}

}  // namespace

binary_dims binary_dims_of(const Shape& a, const Shape& b, const Shape& y) {
  binary_dims d{};
  d.n = static_cast<int>(y.elements());
  d.count = 1;
  d.size[0] = d.n;
  d.stride_a[0] = 1;
  d.stride_b[0] = 1;
  if (d.n <= 1) return d;
  d.count = 0;
  int next_a = 1;
  int next_b = 1;
  for (int axis = -1; axis >= -y.rank(); --axis) {
    const int size = static_cast<int>(y[axis]);
    if (size == 1) continue;
    const int stride_a = size_from_last(a, axis) == 1 ? 0 : next_a;
    const int stride_b = size_from_last(b, axis) == 1 ? 0 : next_b;
    if (stride_a != 0) next_a *= size;
    if (stride_b != 0) next_b *= size;
    if (d.count > 0) {
      const int last = d.count - 1;
      if (stride_a == d.stride_a[last] * d.size[last] &&
          stride_b == d.stride_b[last] * d.size[last]) {
        d.size[last] *= size;
        continue;
      }
    }
    d.size[d.count] = size;
    d.stride_a[d.count] = stride_a;
    d.stride_b[d.count] = stride_b;
    ++d.count;
  }
  return d;
}

OpDef binary_op(OpDef def) {
  def.inputs = {{"a", "any shape"}, {"b", "a shape that broadcasts with that of a"}};
  def.outputs = {{"y", "the broadcast shape"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    c.require_dtype(0, DType::f32);
    c.require_dtype(1, DType::f32);
    return {{DType::f32, broadcast_shape(c)}};
  };
  def.params = [](const ir::KernelContext& c) -> ir::Params {
    return binary_dims_of(c.in(0), c.in(1), c.out());
  };
  def.elementwise = true;
  def.in_place = {{0, 0}, {0, 1}};
  return def;
}

}  // namespace thimble::ops
