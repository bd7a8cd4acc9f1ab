#include <thimble/ops/max.h>

#include "ir/graph.h"
#include "ops/common/axes.h"
#include "ops/common/extremum.h"
#include "ops/common/matrices.h"
#include "ops/sum/attrs.h"

#define THIMBLE_REF "ops/max/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  c.require_dtype(0, DType::f32);
  const auto& options = c.attrs.as<ReduceOptions>();
  const Shape& x = c.shape(0);
  const std::vector<char> chosen = checked_axes(c, options.axes);
  for (int axis = 0; axis < x.rank(); ++axis) {
    c.require(chosen[static_cast<size_t>(axis)] == 0 || x[axis] > 0,
              "there is no largest element of nothing");
  }
  return {{DType::f32, reduced_shape(x, chosen, options.keepdims)}};
}

ir::Params params_of(const ir::KernelContext& c, int x) {
  const auto& axes = c.attrs.as<ReduceOptions>().axes;
  return reduce_dims_of(c.in(x), chosen_axes(c.in(x).rank(), axes), 1);
}

void fast(float* y, const float* x, const reduce_dims* d, exec::ThreadPool& pool) {
  matrices_of(*d).regular ? largest_simd(y, x, d, pool) : f32::max_ref(y, x, d);
}

void grad_fast(float* dx, const float* dy, const float* x, const float* y, const reduce_dims* d,
               exec::ThreadPool& pool) {
  matrices_of(*d).regular ? extremum_grad_simd(dx, dy, x, y, d, pool)
                          : f32::max_grad_ref(dx, dy, x, y, d);
}

const OpDef& max_grad_op() {
  static const OpDef def{
      .name = "max_grad",
      .doc = "The gradient of max: dy in equal shares to all elements that are the largest.",
      .inputs = {{"dy", "the shape of y"}, {"x", "max's input"}, {"y", "max's result"}},
      .outputs = {{"dx", "the shape of x"}},
      .attrs = ir::Attrs::schema_of<ReduceOptions>(),
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(0) == c.input(2), "expected dy of the type of y");
        return {c.input(1)};
      },
      .params = [](const ir::KernelContext& c) { return params_of(c, 1); },
      .ref = ir::kernel_fn<&f32::max_grad_ref>(),
      .ref64 = ir::kernel_fn<&f64::max_grad_ref>(),
      .fast = ir::kernel_fn<&grad_fast>(),
      .in_place = {{0, 1}},
  };
  return def;
}

const OpDef& max_op() {
  static const OpDef def{
      .name = "max",
      .doc = "The largest element over axes (all where none is named); NaN counts as the largest.",
      .example = "auto y = max(x, {.axes = {-1}});",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "x without the axes, or with size 1 in their place"}},
      .attrs = ir::Attrs::schema_of<ReduceOptions>(),
      .infer = infer,
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(max_grad_op(), c.attrs, {c.grad(), c.input(0), c.output()})};
      },
      .params = [](const ir::KernelContext& c) { return params_of(c, 0); },
      .ref = ir::kernel_fn<&f32::max_ref>(),
      .ref64 = ir::kernel_fn<&f64::max_ref>(),
      .fast = ir::kernel_fn<&fast>(),
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(max) {
  static const OpDef* const defs[] = {&max_op(), &max_grad_op()};
  return defs;
}

namespace thimble {
Value max(Value x, const ReduceOptions& options) {
  return x.graph().add1(ops::max_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
