#include <thimble/ops/sum_to.h>

#include <string>

#include <thimble/ops/argmax.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/sum.h>
#include "ops/families/extremum/extremum.h"
#include "ops/families/move/scales.h"
#include "ops/families/nary/nary.h"
#include "ops/families/reduction/axes.h"

namespace thimble::ops {
namespace {

ir::Params reduce_params(const ir::KernelContext& c, int x) {
  const auto& axes = c.attrs.as<ReduceOptions>().axes;
  return reduce_dims_of(c.in(x), chosen_axes(c.in(x).rank(), axes), 1);
}

void require_some(const ir::InferContext& c, bool some) {
  c.require(some, "there is no largest or smallest element of nothing");
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& options = c.attrs.as<ReduceOptions>();
  const Shape& x = c.shape(0);
  const std::vector<char> chosen = checked_axes(c, options.axes);
  for (int axis = 0; axis < x.rank(); ++axis) {
    require_some(c, chosen[static_cast<size_t>(axis)] == 0 || x[axis] > 0);
  }
  return {moved_type(c, 0, reduced_shape(x, chosen, options.keepdims))};
}

std::vector<ir::TensorType> infer_place(const ir::InferContext& c) {
  const auto& options = c.attrs.as<ArgmaxOptions>();
  const Shape& x = c.shape(0);
  require_one_scale(c, 0);
  std::vector<char> chosen(static_cast<size_t>(x.rank()), options.flat ? 1 : 0);
  if (options.flat) {
    require_some(c, x.elements() > 0);
  } else {
    const int axis = checked_axis(c, options.axis, x.rank());
    require_some(c, x[axis] > 0);
    chosen[static_cast<size_t>(axis)] = 1;
  }
  return {{DType::i32, reduced_shape(x, chosen, options.keepdims)}};
}

}  // namespace

ir::OpDef extremum_op(ir::OpDef def) {
  def.signature.inputs = {{"x", "any shape"}};
  def.signature.outputs = {{"y", "x without the axes, or with size 1 in their place"}};
  def.signature.attrs = ir::Attrs::schema_of<ReduceOptions>();
  def.infer = infer;
  def.kernels.params = [](const ir::KernelContext& c) { return reduce_params(c, 0); };
  return def;
}

ir::OpDef extremum_grad_op(ir::OpDef def) {
  def.signature.doc =
      "The gradient of the op it is named after: dy in equal shares to all that are extreme.";
  def.signature.inputs = {
      {"dy", "the shape of y"}, {"x", "that op's input"}, {"y", "that op's result"}};
  def.signature.outputs = {{"dx", "the shape of x"}};
  def.signature.attrs = ir::Attrs::schema_of<ReduceOptions>();
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    c.require(c.input(0) == c.input(2), "expected dy of the type of y");
    return {c.input(1)};
  };
  def.kernels.params = [](const ir::KernelContext& c) { return reduce_params(c, 1); };
  def.memory.in_place = {{0, 1}};
  return def;
}

ir::OpDef extremum_place_op(ir::OpDef def) {
  def.signature.inputs = {{"x", "any shape of at least one dimension"}};
  def.signature.outputs = {{"y", "i32: x without the axis, or with size 1 in its place"}};
  def.signature.attrs = ir::Attrs::schema_of<ArgmaxOptions>();
  def.infer = infer_place;
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    const auto& options = c.attrs.as<ArgmaxOptions>();
    if (options.flat) return axis_dims{1, static_cast<int>(c.in(0).elements()), 1};
    return axis_dims_of(c.in(0), options.axis);
  };
  return def;
}

ir::OpDef extremum_of_two_op(ir::OpDef def) {
  def.signature.inputs = {{"a", "any shape"}, {"b", "a shape that broadcasts with that of a"}};
  def.signature.outputs = {{"y", "the broadcast shape"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    require_same_quantization(c, 0, 1);
    return {moved_type(c, 0, broadcast_shape(c, 0, 1))};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params { return nary_dims_of(c); };
  def.flow.elementwise = true;
  def.memory.in_place = {{0, 0}, {0, 1}};
  return def;
}

ir::OpDef extremum_of_two_grad_op(ir::OpDef def) {
  def.signature.doc =
      "The gradient of the op it is named after by its first input: dy where that is the result, "
      "dy / 2 where both are equal, else 0.";
  def.signature.inputs = {{"dy", "the shape of the result"},
                          {"a", "the input whose gradient is taken"},
                          {"b", "the other one"}};
  def.signature.outputs = {{"dx", "the shape of dy"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    c.require(broadcast_shape(c, 1, 2) == c.shape(0), "expected dy of the broadcast shape");
    return {c.input(0)};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params { return nary_dims_of(c); };
  def.flow.elementwise = true;
  def.memory.in_place = {{0, 0}, {0, 1}, {0, 2}};
  return def;
}

Value compared(Value x) { return is_floating(x.dtype()) ? x : cast(x, DType::f32); }

std::vector<Value> extremum_of_two_vjp(const ir::VjpContext& c, const ir::OpDef& grad) {
  std::vector<Value> grads(2);
  for (int i = 0; i < 2; ++i) {
    if (!c.need(i)) continue;
    const Value x = c.input(i);
    const Value dx =
        c.grad().graph().add1(grad, {}, {c.grad(), compared(x), compared(c.input(1 - i))});
    grads[static_cast<size_t>(i)] = sum_to(dx, x.shape());
  }
  return grads;
}

}  // namespace thimble::ops
