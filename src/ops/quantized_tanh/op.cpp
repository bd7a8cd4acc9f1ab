#include <thimble/ops/affine.h>
#include <thimble/ops/quantized_tanh.h>
#include <thimble/ops/square.h>
#include <thimble/ops/tanh.h>

#include <cmath>

#include "ir/graph.h"
#include "ops/families/quantized/table.h"

#define THIMBLE_OP quantized_tanh
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_tanh_impl {
namespace {

struct QuantizedTanh {
  using Attrs = QuantizedTanhAttrs;
  static constexpr const char* name = "quantized_tanh";
  static constexpr const char* doc =
      "The hyperbolic tangent of int8 numbers: y = clamp(round(tanh(scale of x * (x - its zero "
      "point)) / scale) + zero_point).";
  static constexpr const char* example = "auto y = quantized_tanh(x, {.scale = 0.0078125});";
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::quantized_tanh_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::quantized_tanh_ref>();
  static constexpr const char* inside_name = "quantized_tanh_inside";
  static constexpr ir::KernelFn inside_ref = ir::kernel_fn<&f32::quantized_tanh_inside_ref>();
  static constexpr ir::KernelFn inside_ref64 = ir::kernel_fn<&f64::quantized_tanh_inside_ref>();

  static double value(double x) { return std::tanh(x); }
  static Value derivative(Value x) {
    return affine(square(tanh(x)), {.scale = -1.0, .shift = 1.0});
  }
};

}  // namespace
}  // namespace thimble::ops::quantized_tanh_impl

THIMBLE_OP_FOLDER(quantized_tanh) {
  static const OpDef* const defs[] = {&quantized_table_op<QuantizedTanh>(),
                                      &quantized_table_inside_op<QuantizedTanh>()};
  return defs;
}

namespace thimble {

void describe(QuantizedTanhAttrs& a, ir::FieldVisitor& v) { ops::describe_result(a, v); }

Value quantized_tanh(Value x, const QuantizedTanhAttrs& attrs) {
  using ops::quantized_tanh_impl::QuantizedTanh;
  return x.graph().add1(ops::quantized_table_op<QuantizedTanh>(), ir::Attrs::of(attrs), {x});
}

}  // namespace thimble
