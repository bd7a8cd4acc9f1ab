#include "ops/families/binary/binary.h"

#include "ops/families/binary/broadcast.h"
#include "ops/families/move/scales.h"
#include "ops/families/nary/nary.h"

namespace thimble::ops {

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
  def.signature.inputs = {{"a", "any shape"}, {"b", "a shape that broadcasts with that of a"}};
  def.signature.outputs = {{"y", "the broadcast shape"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    require_plain_numbers(c);
    return {{c.input(0).dtype, broadcast_shape(c, 0, 1)}};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    return binary_dims_of(c.in(0), c.in(1), c.out());
  };
  def.flow.elementwise = true;
  def.memory.in_place = {{0, 0}, {0, 1}};
  return def;
}

}  // namespace thimble::ops
