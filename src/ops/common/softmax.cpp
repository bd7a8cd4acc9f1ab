#include "ops/common/softmax.h"

#include "ops/common/axes.h"

namespace thimble::ops {

std::vector<ir::TensorType> infer_softmax(const ir::InferContext& c) {
  for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
    c.require_dtype(i, DType::f32);
    c.require(c.shape(i) == c.shape(0), "expected tensors of one shape");
  }
  checked_axis(c, c.attrs.as<SoftmaxOptions>().axis, c.shape(0).rank());
  return {c.input(0)};
}

ir::Params softmax_params(const ir::KernelContext& c) {
  const Shape& x = c.in(0);
  const int64_t given = c.attrs.as<SoftmaxOptions>().axis;
  const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
  softmax_dims d{1, static_cast<int>(x[axis]), 1};
  if (x.elements() == 0) return softmax_dims{0, 0, 0};
  for (int a = 0; a < axis; ++a) d.outer *= static_cast<int>(x[a]);
  for (int a = axis + 1; a < x.rank(); ++a) d.inner *= static_cast<int>(x[a]);
  return d;
}

}  // namespace thimble::ops
