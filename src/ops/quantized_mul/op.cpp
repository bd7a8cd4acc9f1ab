#include <thimble/ops/quantized_mul.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/nary/nary.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_mul/dims.h"

#define THIMBLE_OP quantized_mul
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_mul_impl {
namespace {

// What the product of the integers is multiplied by.
double factor(const ir::TensorType& a, const ir::TensorType& b, double scale) {
  return static_cast<double>(scale_of(a)) * static_cast<double>(scale_of(b)) /
         static_cast<double>(static_cast<float>(scale));
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<QuantizedMulAttrs>();
  require_quantized(c, 0);
  require_quantized(c, 1);
  ir::TensorType y = quantized_type(c, broadcast_shape(c, 0, 1), result_of(attrs));
  require_factor(c, factor(c.input(0), c.input(1), attrs.scale),
                 "the factor from the scales of a and b to that of the result");
  return {y};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<QuantizedMulAttrs>();
  const ir::TensorType& a = *c.inputs[0];
  const ir::TensorType& b = *c.inputs[1];
  quantized_mul_dims d{};
  d.walk = nary_dims_of(c);
  d.out = kernel_result(result_of(attrs));
  d.a_zero_point = zero_point_of(a);
  d.b_zero_point = zero_point_of(b);
  d.factor = kernel_factor(
      attrs.requantization == Requantization::fixed_point
          ? static_cast<double>(scale_of(a) * scale_of(b) / static_cast<float>(attrs.scale))
          : factor(a, b, attrs.scale));
  return d;
}

const OpDef& quantized_mul_op() {
  static const OpDef def{
      .name = "quantized_mul",
      .signature{
          .doc =
              "The product of int8 numbers: y = clamp(round((a - its zero point) * (b - its zero "
              "point) * scale of a * scale of b / scale) + zero_point).",
          .example = "auto y = quantized_mul(a, b, {.scale = 0.1});",
          .inputs = {{"a", "any shape, i8 with one scale"},
                     {"b", "a shape that broadcasts with a, i8 with one scale"}},
          .outputs = {{"y", "the broadcast shape, i8 with one scale"}},
          .attrs = ir::Attrs::schema_of<QuantizedMulAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::quantized_mul_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_mul_ref>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_mul_impl

THIMBLE_OP_FOLDER(quantized_mul) {
  static const OpDef* const defs[] = {&quantized_mul_op()};
  return defs;
}

namespace thimble {

void describe(QuantizedMulAttrs& a, ir::FieldVisitor& v) {
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_mul(Value a, Value b, const QuantizedMulAttrs& attrs) {
  return a.graph().add1(ops::quantized_mul_impl::quantized_mul_op(), ir::Attrs::of(attrs), {a, b});
}

}  // namespace thimble
