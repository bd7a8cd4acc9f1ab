#include <thimble/ops/reshape.h>

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/move/copy.h"
#include "ops/reshape/attrs.h"

#define THIMBLE_OP reshape
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::reshape_impl {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 62;

Shape completed(const ir::InferContext& c, const Shape& wanted) {
  std::vector<int64_t> dims = wanted.dims();
  int unknown = -1;
  int64_t known = 1;
  for (int axis = 0; axis < wanted.rank(); ++axis) {
    if (wanted[axis] == -1) {
      c.require(unknown < 0, "only one dimension may be -1");
      unknown = axis;
    } else {
      c.require(wanted[axis] >= 0, "dimensions are at least 0, or -1 for one to be found");
      c.require(wanted[axis] <= kMostElements / std::max<int64_t>(known, 1), "too many elements");
      known *= wanted[axis];
    }
  }
  const int64_t elements = c.shape(0).elements();
  if (unknown >= 0) {
    c.require(known > 0, "-1 cannot be found where another dimension is 0");
    if (elements % known != 0) {
      c.fail(fmt::format("elements do not fill rows of {} in shape {}", known, to_string(wanted)));
    }
    dims[static_cast<size_t>(unknown)] = elements / known;
  } else if (known != elements) {
    c.fail(fmt::format("shape {} has another number of elements", to_string(wanted)));
  }
  return Shape(std::move(dims));
}

ir::Params params(const ir::KernelContext& c) { return copy_dims_of(c.outputs[0]); }

std::vector<Value> vjp(const ir::VjpContext& c) { return {reshape(c.grad(), c.input(0).shape())}; }

const OpDef& reshape_op() {
  static const OpDef def{
      .name = "reshape",
      .signature{
          .doc = "The elements of x in their order under another shape; one dimension may be -1.",
          .example = "auto images = reshape(x, {-1, 7, 7, 8});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the new shape"}},
          .attrs = ir::Attrs::schema_of<ReshapeAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {moved_type(c, 0, completed(c, c.attrs.as<ReshapeAttrs>().shape))};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::reshape_ref>(),
          .ref64 = ir::kernel_fn<&f64::reshape_ref>(),
          .any_type = true,
      },
      .memory{.views = {{0, 0}}},
      .quantized{.build = ir::same_op_on_int8},
  };
  return def;
}

const OpDef& flatten_op() {
  static const OpDef def{
      .name = "flatten",
      .signature{
          .doc = "The elements of x as [N, rest]: all axes but the first become one.",
          .example = "auto y = flatten(images);",
          .inputs = {{"x", "[N, ...]"}},
          .outputs = {{"y", "[N, rest]"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const Shape& x = c.shape(0);
        c.require(x.rank() >= 1, "expected at least one dimension");
        int64_t rest = 1;
        for (int axis = 1; axis < x.rank(); ++axis) rest *= x[axis];
        return {moved_type(c, 0, {x[0], rest})};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::reshape_ref>(),
          .ref64 = ir::kernel_fn<&f64::reshape_ref>(),
          .any_type = true,
      },
      .memory{.views = {{0, 0}}},
      .quantized{.build = ir::same_op_on_int8},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::reshape_impl

THIMBLE_OP_FOLDER(reshape) {
  static const OpDef* const defs[] = {&reshape_op(), &flatten_op()};
  return defs;
}

namespace thimble {

Value reshape(Value x, const Shape& shape) {
  return x.graph().add1(ops::reshape_impl::reshape_op(), ir::Attrs::of(ReshapeAttrs{shape}), {x});
}

Value flatten(Value x) { return x.graph().add1(ops::reshape_impl::flatten_op(), {}, {x}); }

}  // namespace thimble
