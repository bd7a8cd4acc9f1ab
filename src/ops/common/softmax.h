// What softmax and log_softmax share.
#pragma once

#include <thimble/ops/softmax.h>

#include "ir/graph.h"
#include "ops/common/axis_dims.h"

namespace thimble {

inline void describe(SoftmaxOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis of the classes");
}

namespace ops {

// The shape of every input; throws Error for other types, shapes that differ or a wrong axis.
std::vector<ir::TensorType> infer_softmax(const ir::InferContext& c);
ir::Params softmax_params(const ir::KernelContext& c);

}  // namespace ops
}  // namespace thimble
