#include <thimble/ops/concat.h>
#include <thimble/ops/requantize.h>
#include <thimble/ops/slice.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/move/parts.h"
#include "ops/families/move/scales.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP concat
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::concat_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  require_parts(c, c.inputs.size());
  for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
    c.require(c.has(i), "a part is missing");
  }
  const Shape& first = c.shape(0);
  const int axis = checked_axis(c, c.attrs.as<ConcatOptions>().axis, first.rank());
  std::vector<int64_t> dims = first.dims();
  for (int i = 1; i < static_cast<int>(c.inputs.size()); ++i) {
    require_same_quantization(c, i, 0);
    const Shape& part = c.shape(i);
    bool fits = part.rank() == first.rank();
    for (int a = 0; fits && a < first.rank(); ++a) fits = a == axis || part[a] == first[a];
    c.require(fits, "parts may differ along the axis alone");
    dims[static_cast<size_t>(axis)] += part[axis];
  }
  return {moved_type(c, 0, Shape(std::move(dims)))};
}

ir::Params params(const ir::KernelContext& c) {
  const int64_t axis = c.attrs.as<ConcatOptions>().axis;
  std::vector<int64_t> sizes;
  for (const ir::TensorType* part : c.inputs) {
    sizes.push_back(part->shape[static_cast<int>(axis)]);
  }
  return parts_dims_of(c.out(), axis, sizes, c.outputs[0].dtype);
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const int64_t axis = c.attrs.as<ConcatOptions>().axis;
  std::vector<Value> grads;
  int64_t start = 0;
  for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
    const int64_t stop = start + c.input(i).shape()[static_cast<int>(axis)];
    grads.push_back(c.need(i) ? slice(c.grad(), axis, start, stop) : Value());
    start = stop;
  }
  return grads;
}

// Parts of other scales come to that of the result first.
std::vector<Value> quantized(const ir::QuantizeContext& c) {
  const ir::TensorType& first = c.inputs[0].graph().type(c.inputs[0].id());
  const bool equal = std::all_of(c.inputs.begin(), c.inputs.end(), [&](const Value& part) {
    return *part.quantization() == *first.quantization;
  });
  if (equal) return ir::same_op_on_int8(c);
  std::vector<Value> parts;
  for (const Value& part : c.inputs) {
    parts.push_back(requantize(part, {c.scale, c.zero_point, c.requantization}));
  }
  return {concat(parts, c.attrs.as<ConcatOptions>())};
}

const OpDef& concat_op() {
  static const OpDef def{
      .name = "concat",
      .signature{
          .doc = "Tensors side by side along an axis.",
          .example = "auto y = concat({a, b}, {.axis = -1});",
          .inputs = {{.name = "parts",
                      .doc = "equal but for the axis; of one quantization",
                      .type_of = 0}},
          .outputs = {{"y", "the axis as long as all parts together"}},
          .attrs = ir::Attrs::schema_of<ConcatOptions>(),
          .variadic_inputs = true,
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::concat_ref>(),
          .ref64 = ir::kernel_fn<&f64::concat_ref>(),
          .any_type = true,
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<ConcatOptions>().axis);
                }},
      .quantized{.build = quantized},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::concat_impl

THIMBLE_OP_FOLDER(concat) {
  static const OpDef* const defs[] = {&concat_op()};
  return defs;
}

namespace thimble {

void describe(ConcatOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis along which the parts lie");
}
Value concat(const std::vector<Value>& parts, const ConcatOptions& options) {
  if (parts.empty() || !parts[0]) throw Error("concat", "expected at least one part");
  return parts[0].graph().add(ops::concat_impl::concat_op(), ir::Attrs::of(options), parts)[0];
}
}  // namespace thimble
