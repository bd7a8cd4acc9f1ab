#include <thimble/ops/quantized_add.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/nary/nary.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_add/dims.h"

#define THIMBLE_OP quantized_add
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_add_impl {
namespace {

// In fixed point: from twice the larger scale, with 20 more bits, to that of the result.
double factor(const ir::TensorType& a, const ir::TensorType& b, double scale) {
  const double twice = 2.0 * static_cast<double>(std::max(scale_of(a), scale_of(b)));
  return twice / (0x1p20 * static_cast<double>(static_cast<float>(scale)));
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<QuantizedAddAttrs>();
  require_quantized(c, 0);
  require_quantized(c, 1);
  ir::TensorType y = quantized_type(c, broadcast_shape(c, 0, 1), result_of(attrs));
  require_factor(c, factor(c.input(0), c.input(1), attrs.scale),
                 "the factor from the scales of a and b to that of the result");
  return {y};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<QuantizedAddAttrs>();
  const ir::TensorType& a = *c.inputs[0];
  const ir::TensorType& b = *c.inputs[1];
  quantized_add_dims d{};
  d.walk = nary_dims_of(c);
  d.out = kernel_result(result_of(attrs));
  d.a_zero_point = zero_point_of(a);
  d.b_zero_point = zero_point_of(b);
  d.a_scale = scale_of(a);
  d.b_scale = scale_of(b);
  d.y_scale = static_cast<float>(attrs.scale);
  const double twice = 2.0 * static_cast<double>(std::max(d.a_scale, d.b_scale));
  d.a_factor = kernel_factor(static_cast<double>(d.a_scale) / twice);
  d.b_factor = kernel_factor(static_cast<double>(d.b_scale) / twice);
  d.y_factor = kernel_factor(factor(a, b, attrs.scale));
  return d;
}

const OpDef& quantized_add_op() {
  static const OpDef def{
      .name = "quantized_add",
      .signature{
          .doc = "The sum of int8 numbers of different scales: y = clamp(round(((a - its zero "
                 "point) * "
                 "its scale + (b - its zero point) * its scale) / scale) + zero_point).",
          .example = "auto y = quantized_add(a, b, {.scale = 0.1});",
          .inputs = {{"a", "any shape, i8 with one scale"},
                     {"b", "a shape that broadcasts with a, i8 with one scale"}},
          .outputs = {{"y", "the broadcast shape, i8 with one scale"}},
          .attrs = ir::Attrs::schema_of<QuantizedAddAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::quantized_add_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_add_ref>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_add_impl

THIMBLE_OP_FOLDER(quantized_add) {
  static const OpDef* const defs[] = {&quantized_add_op()};
  return defs;
}

namespace thimble {

void describe(QuantizedAddAttrs& a, ir::FieldVisitor& v) {
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_add(Value a, Value b, const QuantizedAddAttrs& attrs) {
  return a.graph().add1(ops::quantized_add_impl::quantized_add_op(), ir::Attrs::of(attrs), {a, b});
}

}  // namespace thimble
