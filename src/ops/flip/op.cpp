#include <thimble/ops/flip.h>

#include "ir/graph.h"
#include "ops/families/move/copy.h"
#include "ops/families/move/strided.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP flip
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::flip_impl {
namespace {

ir::Params params(const ir::KernelContext& c) {
  const Shape& x = c.in(0);
  const std::vector<int64_t> strides = row_major_strides(x);
  std::vector<StridedAxis> axes;
  for (size_t i = 0; i < strides.size(); ++i) {
    axes.push_back({x[static_cast<int>(i)], strides[i]});
  }
  int64_t offset = 0;
  for (const int64_t given : c.attrs.as<FlipOptions>().axes) {
    StridedAxis& axis = axes[static_cast<size_t>(given < 0 ? given + x.rank() : given)];
    offset += (axis.size - 1) * axis.stride;
    axis.stride = -axis.stride;
  }
  return strided_dims_of(axes, offset, x.elements(), c.outputs[0].dtype);
}

const OpDef& flip_op() {
  static const OpDef def{
      .name = "flip",
      .signature{
          .doc = "x with the order of some axes reversed.",
          .example = "auto mirrored = flip(images, {.axes = {2}});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<FlipOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& axes = c.attrs.as<FlipOptions>().axes;
        checked_axes(c, axes);
        return {moved_type(c, 0, c.shape(0))};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {flip(c.grad(), c.attrs.as<FlipOptions>())};
      }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::flip_ref>(),
          .ref64 = ir::kernel_fn<&f64::flip_ref>(),
          .any_type = true,
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  const bool first =
                      chosen_axes(c.in(0).rank(), c.attrs.as<FlipOptions>().axes)[0] != 0;
                  return first ? ir::Samples::mixed : ir::Samples::independent;
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::flip_impl

THIMBLE_OP_FOLDER(flip) {
  static const OpDef* const defs[] = {&flip_op()};
  return defs;
}

namespace thimble {

void describe(FlipOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "turned around; negative ones count from the last");
}
Value flip(Value x, const FlipOptions& options) {
  return x.graph().add1(ops::flip_impl::flip_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
