#include <thimble/ops/affine.h>
#include <thimble/ops/quantized_add.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/quantized/pair.h"
#include "ops/quantized_add/dims.h"

#define THIMBLE_OP quantized_add
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_add_impl {
namespace {

struct QuantizedAdd {
  using Attrs = QuantizedAddAttrs;
  using Dims = quantized_add_dims;
  static constexpr const char* name = "quantized_add";
  static constexpr const char* doc =
      "The sum of int8 numbers of different scales: y = clamp(round(((a - its zero point) * its "
      "scale + (b - its zero point) * its scale) / scale) + zero_point).";
  static constexpr const char* example = "auto y = quantized_add(a, b, {.scale = 0.1});";
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::quantized_add_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::quantized_add_ref>();
  static constexpr const char* inside_name = "quantized_add_inside";
  static constexpr ir::KernelFn inside_ref = ir::kernel_fn<&f32::quantized_add_inside_ref>();
  static constexpr ir::KernelFn inside_ref64 = ir::kernel_fn<&f64::quantized_add_inside_ref>();

  // In fixed point: from twice the larger scale, with 20 more bits, to that of the result.
  static double factor(const ir::TensorType& a, const ir::TensorType& b, double scale) {
    const double twice = 2.0 * static_cast<double>(std::max(scale_of(a), scale_of(b)));
    return twice / (0x1p20 * static_cast<double>(static_cast<float>(scale)));
  }
  static void add_factors(Dims& d, const ir::TensorType& a, const ir::TensorType& b,
                          const Attrs& attrs) {
    d.a_scale = scale_of(a);
    d.b_scale = scale_of(b);
    d.y_scale = static_cast<float>(attrs.scale);
    const double twice = 2.0 * static_cast<double>(std::max(d.a_scale, d.b_scale));
    d.a_factor = kernel_factor(static_cast<double>(d.a_scale) / twice);
    d.b_factor = kernel_factor(static_cast<double>(d.b_scale) / twice);
    d.y_factor = kernel_factor(factor(a, b, attrs.scale));
  }
  // By the integers: the scale of the input by that of the result.
  static Value gradient(const ir::VjpContext& c, int i, Value g) {
    const Value x = c.input(i);
    return g * (static_cast<double>(scale_of(x.graph().type(x.id()))) /
                static_cast<double>(c.output().quantization()->scales[0]));
  }
};

}  // namespace
}  // namespace thimble::ops::quantized_add_impl

THIMBLE_OP_FOLDER(quantized_add) {
  static const OpDef* const defs[] = {&quantized_pair_op<QuantizedAdd>(),
                                      &quantized_pair_inside_op<QuantizedAdd>()};
  return defs;
}

namespace thimble {

void describe(QuantizedAddAttrs& a, ir::FieldVisitor& v) {
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_add(Value a, Value b, const QuantizedAddAttrs& attrs) {
  using ops::quantized_add_impl::QuantizedAdd;
  return a.graph().add1(ops::quantized_pair_op<QuantizedAdd>(), ir::Attrs::of(attrs), {a, b});
}

}  // namespace thimble
