#include "ops/families/softmax/softmax.h"

#include "ops/families/reduction/axes.h"

namespace thimble::ops {
namespace {

// All tensors have one shape and type f32; the axis must exist.
ir::OpDef over_axis(ir::OpDef def) {
  def.signature.attrs = ir::Attrs::schema_of<SoftmaxOptions>();
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
      c.require(c.shape(i) == c.shape(0), "expected tensors of one shape");
    }
    checked_axis(c, c.attrs.as<SoftmaxOptions>().axis, c.shape(0).rank());
    return {c.input(0)};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    return axis_dims_of(c.in(0), c.attrs.as<SoftmaxOptions>().axis);
  };
  def.kernels.row_blocks = [](const ir::KernelContext& c) -> ir::RowBlocks {
    const int64_t axis = c.attrs.as<SoftmaxOptions>().axis;
    if (axis == 0 || axis + c.in(0).rank() == 0) return {};
    return c.inputs.size() == 1 ? ir::RowBlocks{{0}, {0}} : ir::RowBlocks{{0, 1}, {0}};
  };
  return def;
}

}  // namespace

ir::OpDef softmax_family_op(ir::OpDef def) {
  def.signature.inputs = {{"x", "any shape of at least one dimension"}};
  def.signature.outputs = {{"y", "the shape of x"}};
  def.memory.in_place = {{0, 0}};
  def.flow.samples = [](const ir::SamplesContext& c) {
    return samples_along(c, c.attrs.as<SoftmaxOptions>().axis);
  };
  return over_axis(std::move(def));
}

ir::OpDef softmax_family_grad_op(ir::OpDef def) {
  def.signature.inputs = {{"dy", "any shape"}, {"y", "the shape of dy"}};
  def.signature.outputs = {{"dx", "the shape of dy"}};
  def.memory.in_place = {{0, 0}, {0, 1}};
  return over_axis(std::move(def));
}

}  // namespace thimble::ops
