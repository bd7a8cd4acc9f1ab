#include <thimble/ops/affine.h>
#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/quantized_mean.h>
#include <thimble/ops/reshape.h>

#include <algorithm>
#include <bit>

#include "ir/graph.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/quantized.h"
#include "ops/families/reduction/axes.h"
#include "ops/quantized_mean/dims.h"

#define THIMBLE_OP quantized_mean
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_mean_impl {
namespace {

double factor_of(const ir::TensorType& x, const QuantizedMeanAttrs& attrs) {
  return static_cast<double>(scale_of(x)) / static_cast<double>(static_cast<float>(attrs.scale));
}

// factor / count. Fixed point divides the multiplier, with as many bits more as count has, in the
// place of the sum: as TensorFlow Lite's reference kernel does.
quantized_factor mean_factor(double factor, int64_t count, Requantization requantization) {
  quantized_factor f = kernel_factor(factor, requantization);
  f.scale = static_cast<float>(factor / static_cast<double>(count));
  if (requantization == Requantization::floating) return f;
  const int bits = std::min(
      {static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1, 32, 31 + f.shift});
  f.multiplier = static_cast<int32_t>((int64_t{f.multiplier} << bits) / count);
  f.shift -= bits;
  return f;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<QuantizedMeanAttrs>();
  require_quantized(c, 0);
  const Shape& x = c.shape(0);
  const std::vector<char> chosen = checked_axes(c, attrs.axes);
  for (int axis = 0; axis < x.rank(); ++axis) {
    c.require(chosen[static_cast<size_t>(axis)] == 0 || x[axis] > 0,
              "expected at least one element in each mean");
  }
  ir::TensorType y = quantized_type(c, reduced_shape(x, chosen, attrs.keepdims), result_of(attrs));
  require_factor(c, factor_of(c.input(0), attrs), "the scale of x by that of the result");
  return {y};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<QuantizedMeanAttrs>();
  const Shape& x = c.in(0);
  quantized_mean_dims d{};
  d.walk = reduce_dims_of(x, chosen_axes(x.rank(), attrs.axes), 1);
  d.input_zero_point = zero_point_of(*c.inputs[0]);
  d.factor = mean_factor(factor_of(*c.inputs[0], attrs), std::max(1, d.walk.reduced),
                         attrs.requantization);
  d.out = kernel_result(result_of(attrs));
  return d;
}

const OpDef& inside_op();

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<QuantizedMeanAttrs>();
  const Value x = c.input(0);
  const Shape kept = reduced_shape(x.shape(), chosen_axes(x.shape().rank(), attrs.axes), true);
  const int64_t count = kept.elements() == 0 ? 1 : x.shape().elements() / kept.elements();
  const double factor = factor_of(x.graph().type(x.id()), attrs) / static_cast<double>(count);
  const Value each = straight_through(c, inside_op()) * factor;
  return {broadcast_to(reshape(each, kept), x.shape())};
}

const OpDef& quantized_mean_op() {
  static const OpDef def{
      .name = "quantized_mean",
      .signature{
          .doc = "The mean of int8 numbers over axes (all where none is named): y = "
                 "clamp(round(sum of (x - zero point of x) * scale of x / (count * scale)) + "
                 "zero_point, -128, 127).",
          .example = "auto y = quantized_mean(x, {.axes = {1, 2}, .scale = 0.02});",
          .inputs = {{.name = "x", .doc = "any shape, i8 with one scale", .types = DType::i8}},
          .outputs = {{"y", "x without the axes, or with size 1 in their place; i8"}},
          .attrs = ir::Attrs::schema_of<QuantizedMeanAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::quantized_mean_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_mean_ref>(),
          .any_type = true,
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  const auto& axes = c.attrs.as<QuantizedMeanAttrs>().axes;
                  return chosen_axes(c.in(0).rank(), axes)[0] != 0 ? ir::Samples::mixed
                                                                   : ir::Samples::independent;
                }},
  };
  return def;
}

const OpDef& inside_op() {
  static const OpDef def =
      ops::inside_op(quantized_mean_op(), "quantized_mean_inside", infer_inside<infer>,
                     ir::kernel_fn<&f32::quantized_mean_inside_ref>(),
                     ir::kernel_fn<&f64::quantized_mean_inside_ref>());
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_mean_impl

THIMBLE_OP_FOLDER(quantized_mean) {
  static const OpDef* const defs[] = {&quantized_mean_op(), &inside_op()};
  return defs;
}

namespace thimble {

void describe(QuantizedMeanAttrs& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "averaged over; none: all; negative ones count from the last");
  v.field("keepdims", a.keepdims, "keep them with size 1");
  ops::describe_result(a, v);
}

Value quantized_mean(Value x, const QuantizedMeanAttrs& attrs) {
  return x.graph().add1(ops::quantized_mean_impl::quantized_mean_op(), ir::Attrs::of(attrs), {x});
}

}  // namespace thimble
