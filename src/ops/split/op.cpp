#include <thimble/ops/split.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/families/move/copy.h"
#include "ops/families/move/parts.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP split
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::split_impl {
namespace {

Shape with_axis(const Shape& shape, int64_t axis, int64_t size) {
  std::vector<int64_t> dims = shape.dims();
  dims[static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis)] = size;
  return Shape(std::move(dims));
}

int64_t sum_of(const std::vector<int64_t>& sizes) {
  int64_t sum = 0;
  for (const int64_t size : sizes) sum += size;
  return sum;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& options = c.attrs.as<SplitOptions>();
  const Shape& x = c.shape(0);
  require_parts(c, options.sizes.size());
  const int axis = checked_axis(c, options.axis, x.rank());
  int64_t rest = x[axis];
  for (const int64_t size : options.sizes) {
    c.require(size >= 0 && size <= rest, "the sizes of the parts do not make up the axis");
    rest -= size;
  }
  c.require(rest == 0, "the sizes of the parts do not make up the axis");
  std::vector<ir::TensorType> parts;
  for (const int64_t size : options.sizes) {
    parts.push_back(moved_type(c, 0, with_axis(x, axis, size)));
  }
  return parts;
}

// Gradients of parts that nothing reads are left out.
const OpDef& split_grad_op() {
  static const OpDef def{
      .name = "split_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of split: the gradients of the parts side by side, zeros for those "
                 "left out.",
          .inputs = {{"parts", "gradients of split's results", true}},
          .outputs = {{"dx", "the shape of split's input"}},
          .attrs = ir::Attrs::schema_of<SplitOptions>(),
          .variadic_inputs = true,
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& options = c.attrs.as<SplitOptions>();
        for (const int64_t size : options.sizes) {
          c.require(size >= 0 && ir::is_in_range(size), "the sizes of the parts are out of range");
        }
        for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
          if (!c.has(i)) continue;
          checked_axis(c, options.axis, c.shape(i).rank());
          return {{DType::f32, with_axis(c.shape(i), options.axis, sum_of(options.sizes))}};
        }
        c.fail("expected the gradient of a part");
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& options = c.attrs.as<SplitOptions>();
            return parts_dims_of(c.out(), options.axis, options.sizes, DType::f32);
          },
          .ref = ir::kernel_fn<&f32::split_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::split_grad_ref>(),
      },
  };
  return def;
}

const OpDef& split_op() {
  static const OpDef def{
      .name = "split",
      .signature{
          .doc = "The parts of x along an axis: the opposite of concat.",
          .example = "auto parts = split(x, {.axis = -1, .sizes = {16, 16}});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"parts", "one for each size"}},
          .attrs = ir::Attrs::schema_of<SplitOptions>(),
      },
      .infer = infer,
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return c.input(0).graph().add(split_grad_op(), c.attrs, c.grads);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& options = c.attrs.as<SplitOptions>();
            return parts_dims_of(c.in(0), options.axis, options.sizes, c.outputs[0].dtype);
          },
          .ref = ir::kernel_fn<&f32::split_ref>(),
          .ref64 = ir::kernel_fn<&f64::split_ref>(),
          .any_type = true,
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<SplitOptions>().axis);
                }},
      .quantized{.build = ir::same_op_on_int8},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::split_impl

THIMBLE_OP_FOLDER(split) {
  static const OpDef* const defs[] = {&split_op(), &split_grad_op()};
  return defs;
}

namespace thimble {

void describe(SplitOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis that is cut");
  v.field("sizes", a.sizes, "of the parts along the axis");
}

std::vector<Value> split(Value x, const SplitOptions& options) {
  const Value inputs[] = {x};
  return x.graph().add(ops::split_impl::split_op(), ir::Attrs::of(options), inputs);
}

std::vector<Value> split(Value x, int64_t parts, int64_t axis) {
  const Shape& shape = x.shape();
  if (axis < -shape.rank() || axis >= shape.rank()) {
    throw Error("split", fmt::format("there is no axis {} in {}", axis, to_string(shape)));
  }
  const int64_t size = shape[static_cast<int>(axis)];
  if (parts < 1 || parts > PARTS_MAX || size % parts != 0) {
    throw Error("split", fmt::format("cannot cut axis {} of {} into {} equal parts", axis,
                                     to_string(shape), parts));
  }
  const std::vector<int64_t> sizes(static_cast<size_t>(parts), size / parts);
  return split(x, {.axis = axis, .sizes = sizes});
}

}  // namespace thimble
