#include <thimble/ops/transpose.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/families/indexed/gather.h"
#include "ops/families/move/copy.h"
#include "ops/families/move/strided.h"
#include "ops/families/reduction/axes.h"
#include "ops/transpose/attrs.h"

#define THIMBLE_OP transpose
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::transpose_impl {
namespace {

std::vector<int64_t> order_of(int rank, const ir::Attrs& attrs) {
  return transposed_axes(attrs.as<TransposeAttrs>(), rank);
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const Shape& x = c.shape(0);
  const auto& given = c.attrs.as<TransposeAttrs>().axes;
  c.require(given.empty() || static_cast<int>(given.size()) == x.rank(),
            fmt::format("expected {} axes", x.rank()));
  checked_axes(c, given);
  std::vector<int64_t> dims;
  for (const int64_t axis : order_of(x.rank(), c.attrs)) {
    dims.push_back(x[static_cast<int>(axis)]);
  }
  return {moved_type(c, 0, Shape(std::move(dims)))};
}

ir::Params params(const ir::KernelContext& c) {
  const Shape& x = c.in(0);
  const std::vector<int64_t> strides = row_major_strides(x);
  std::vector<StridedAxis> axes;
  for (const int64_t axis : order_of(x.rank(), c.attrs)) {
    axes.push_back({x[static_cast<int>(axis)], strides[static_cast<size_t>(axis)]});
  }
  return strided_dims_of(axes, 0, x.elements(), c.outputs[0].dtype);
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const std::vector<int64_t> order = order_of(c.input(0).shape().rank(), c.attrs);
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return {transpose(c.grad(), inverse)};
}

const OpDef& transpose_op() {
  static const OpDef def{
      .name = "transpose",
      .signature{
          .doc = "x with its axes in another order: axis i of y is axis axes[i] of x.",
          .example = "auto nchw = transpose(images, {0, 3, 1, 2});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the dimensions of x in the new order"}},
          .attrs = ir::Attrs::schema_of<TransposeAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::transpose_ref>(),
          .ref64 = ir::kernel_fn<&f64::transpose_ref>(),
          .fast = ir::kernel_fn<&gather<&f32::transpose_ref>>(),
          .any_type = true,
      },
      .quantized{.build = ir::same_op_on_int8},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::transpose_impl

THIMBLE_OP_FOLDER(transpose) {
  static const OpDef* const defs[] = {&transpose_op()};
  return defs;
}

namespace thimble {
Value transpose(Value x, const std::vector<int64_t>& axes) {
  return x.graph().add1(ops::transpose_impl::transpose_op(), ir::Attrs::of(TransposeAttrs{axes}),
                        {x});
}
}  // namespace thimble
