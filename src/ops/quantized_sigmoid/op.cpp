#include <thimble/ops/affine.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/quantized_sigmoid.h>
#include <thimble/ops/sigmoid.h>

#include <cmath>

#include "ir/graph.h"
#include "ops/families/quantized/table.h"

#define THIMBLE_OP quantized_sigmoid
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_sigmoid_impl {
namespace {

struct QuantizedSigmoid {
  using Attrs = QuantizedSigmoidAttrs;
  static constexpr const char* name = "quantized_sigmoid";
  static constexpr const char* doc =
      "The logistic function of int8 numbers: y = clamp(round(1 / (1 + exp(-scale of x * (x - its "
      "zero point))) / scale) + zero_point).";
  static constexpr const char* example =
      "auto y = quantized_sigmoid(x, {.scale = 0.00390625, .zero_point = -128});";
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::quantized_sigmoid_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::quantized_sigmoid_ref>();
  static constexpr const char* inside_name = "quantized_sigmoid_inside";
  static constexpr ir::KernelFn inside_ref = ir::kernel_fn<&f32::quantized_sigmoid_inside_ref>();
  static constexpr ir::KernelFn inside_ref64 = ir::kernel_fn<&f64::quantized_sigmoid_inside_ref>();

  static double value(double x) { return 1.0 / (1.0 + std::exp(-x)); }
  static Value derivative(Value x) {
    const Value y = sigmoid(x);
    return mul(y, affine(y, {.scale = -1.0, .shift = 1.0}));
  }
};

}  // namespace
}  // namespace thimble::ops::quantized_sigmoid_impl

THIMBLE_OP_FOLDER(quantized_sigmoid) {
  static const OpDef* const defs[] = {&quantized_table_op<QuantizedSigmoid>(),
                                      &quantized_table_inside_op<QuantizedSigmoid>()};
  return defs;
}

namespace thimble {

void describe(QuantizedSigmoidAttrs& a, ir::FieldVisitor& v) { ops::describe_result(a, v); }

Value quantized_sigmoid(Value x, const QuantizedSigmoidAttrs& attrs) {
  using ops::quantized_sigmoid_impl::QuantizedSigmoid;
  return x.graph().add1(ops::quantized_table_op<QuantizedSigmoid>(), ir::Attrs::of(attrs), {x});
}

}  // namespace thimble
