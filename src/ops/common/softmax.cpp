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
  return axis_dims_of(c.in(0), c.attrs.as<SoftmaxOptions>().axis);
}

}  // namespace thimble::ops
