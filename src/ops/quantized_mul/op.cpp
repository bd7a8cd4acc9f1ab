#include <thimble/ops/affine.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/quantized_mul.h>

#include "ir/graph.h"
#include "ops/families/quantized/pair.h"
#include "ops/quantized_mul/dims.h"

#define THIMBLE_OP quantized_mul
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_mul_impl {
namespace {

struct QuantizedMul {
  using Attrs = QuantizedMulAttrs;
  using Dims = quantized_mul_dims;
  static constexpr const char* name = "quantized_mul";
  static constexpr const char* doc =
      "The product of int8 numbers: y = clamp(round((a - its zero point) * (b - its zero point) * "
      "scale of a * scale of b / scale) + zero_point).";
  static constexpr const char* example = "auto y = quantized_mul(a, b, {.scale = 0.1});";
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::quantized_mul_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::quantized_mul_ref>();
  static constexpr const char* inside_name = "quantized_mul_inside";
  static constexpr ir::KernelFn inside_ref = ir::kernel_fn<&f32::quantized_mul_inside_ref>();
  static constexpr ir::KernelFn inside_ref64 = ir::kernel_fn<&f64::quantized_mul_inside_ref>();

  // The product of the integers is multiplied by it.
  static double factor(const ir::TensorType& a, const ir::TensorType& b, double scale) {
    return static_cast<double>(scale_of(a)) * static_cast<double>(scale_of(b)) /
           static_cast<double>(static_cast<float>(scale));
  }
  static void add_factors(Dims& d, const ir::TensorType& a, const ir::TensorType& b,
                          const Attrs& attrs) {
    d.factor = kernel_factor(
        attrs.requantization == Requantization::fixed_point
            ? static_cast<double>(scale_of(a) * scale_of(b) / static_cast<float>(attrs.scale))
            : factor(a, b, attrs.scale),
        attrs.requantization);
  }
  // By the integers: the factor times those of the other input.
  static Value gradient(const ir::VjpContext& c, int i, Value g) {
    const ir::Graph& graph = g.graph();
    const double times =
        factor(graph.type(c.input(0).id()), graph.type(c.input(1).id()), c.attrs.as<Attrs>().scale);
    return g * centered(c.input(1 - i)) * times;
  }
};

}  // namespace
}  // namespace thimble::ops::quantized_mul_impl

THIMBLE_OP_FOLDER(quantized_mul) {
  static const OpDef* const defs[] = {&quantized_pair_op<QuantizedMul>(),
                                      &quantized_pair_inside_op<QuantizedMul>()};
  return defs;
}

namespace thimble {

void describe(QuantizedMulAttrs& a, ir::FieldVisitor& v) {
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_mul(Value a, Value b, const QuantizedMulAttrs& attrs) {
  using ops::quantized_mul_impl::QuantizedMul;
  return a.graph().add1(ops::quantized_pair_op<QuantizedMul>(), ir::Attrs::of(attrs), {a, b});
}

}  // namespace thimble
