#include <thimble/ops/sum_to.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/sum_to/attrs.h"
#include "ops/sum_to/dims.h"

#define THIMBLE_REF "ops/sum_to/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

constexpr int kMaxAxes = sizeof(sum_to_dims::size) / sizeof(int);

// Whether an axis of x, counted from the last (-1), vanishes in y or is 1 there.
bool is_summed(const Shape& y, int axis) { return axis < -y.rank() || y[axis] == 1; }

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const Shape& x = c.shape(0);
  const Shape& y = c.attrs.as<SumToAttrs>().shape;
  c.require_dtype(0, DType::f32);
  c.require(x.rank() <= kMaxAxes, fmt::format("expected at most {} dimensions", kMaxAxes));
  bool fits = y.rank() <= x.rank();
  for (int axis = -1; fits && axis >= -y.rank(); --axis) fits = y[axis] == x[axis] || y[axis] == 1;
  c.require(fits, fmt::format("x is no shape that {} broadcasts to", to_string(y)));
  return {{DType::f32, y}};
}

sum_to_dims dims_of(const Shape& x, const Shape& y) {
  sum_to_dims d{};
  d.outputs = static_cast<int>(y.elements());
  d.n = static_cast<int>(x.elements());
  int next = 1;
  for (int axis = -1; d.n > 0 && axis >= -x.rank(); --axis) {
    const int size = static_cast<int>(x[axis]);
    if (size == 1) continue;
    const int stride = is_summed(y, axis) ? 0 : next;
    if (stride != 0) next *= size;
    const int last = d.count - 1;
    if (last >= 0 && stride == d.stride[last] * d.size[last]) {
      d.size[last] *= size;
      continue;
    }
    d.size[d.count] = size;
    d.stride[d.count] = stride;
    ++d.count;
  }
  if (d.count == 0) d.size[d.count++] = 1;
  return d;
}

const OpDef& sum_to_op() {
  static const OpDef def{
      .name = "sum_to",
      .doc =
          "The opposite of broadcasting: x summed over the axes along which a tensor of the "
          "given shape would be repeated.",
      .example = "auto y = sum_to(x, {3, 1});",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "the given shape"}},
      .attrs = ir::Attrs::schema_of<SumToAttrs>(),
      .infer = infer,
      .params = [](const ir::KernelContext& c) -> ir::Params { return dims_of(c.in(0), c.out()); },
      .ref = ir::kernel_fn<&f32::sum_to_ref>(),
      .ref64 = ir::kernel_fn<&f64::sum_to_ref>(),
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(sum_to) {
  static const OpDef* const defs[] = {&sum_to_op()};
  return defs;
}

namespace thimble {

Value sum_to(Value x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return x.graph().add1(ops::sum_to_op(), ir::Attrs::of(SumToAttrs{shape}), {x});
}

}  // namespace thimble
