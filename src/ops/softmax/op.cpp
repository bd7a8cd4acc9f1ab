#include <thimble/ops/affine.h>
#include <thimble/ops/dequantize.h>
#include <thimble/ops/softmax.h>

#include <cmath>

#include "ops/families/kernel/integers.h"
#include "ops/families/quantized/quantized.h"
#include "ops/families/reduction/axes.h"
#include "ops/families/softmax/int8_softmax.h"
#include "ops/families/softmax/softmax.h"

#define THIMBLE_OP softmax
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

SOFTMAX_SIMD_DECLARE(softmax)

namespace thimble::ops::softmax_impl {
namespace {

const OpDef& softmax_grad_op() {
  static const OpDef def = softmax_family_grad_op({
      .name = "softmax_grad",
      .is_gradient = true,
      .signature{.doc = "The gradient of softmax, from its result."},
      .kernels{
          .ref = ir::kernel_fn<&f32::softmax_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::softmax_grad_ref>(),
          .fast = ir::kernel_fn<&softmax_grad_simd>(),
      },
  });
  return def;
}

// The sum of so many exponentials fits.
constexpr int64_t kMostClasses = 4095;
// Differences of int8 become exponents of 26 bits behind the point.
constexpr double kExponents = 0x1p26;

// i8 becomes i8 of a fixed scale, from 0 to 255/256.
std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const int axis = checked_axis(c, c.attrs.as<SoftmaxOptions>().axis, c.shape(0).rank());
  if (c.input(0).dtype != DType::i8) return {c.input(0)};
  const Quantization& q = require_quantized(c, 0);
  c.require(static_cast<double>(q.scales[0]) * kExponents >= 1.0,
            "expected int8 of a scale of at least 2^-26; dequantize it");
  c.require(c.shape(0)[axis] <= kMostClasses,
            "expected at most 4095 classes of int8; dequantize them");
  return {quantized_type(c, c.shape(0), {.scale = 1.0 / 256.0, .zero_point = -128})};
}

ir::Params int8_params(const ir::KernelContext& c) {
  const double scale = static_cast<double>(scale_of(*c.inputs[0])) * kExponents;
  const quantized_factor factor = kernel_factor(std::min(scale, 0x1p31 - 1.0));
  const double radius = std::floor(31.0 * std::ldexp(kExponents, -factor.shift));
  return quantized_softmax_dims{axis_dims_of(c.in(0), c.attrs.as<SoftmaxOptions>().axis),
                                factor.multiplier, factor.shift,
                                -static_cast<int32_t>(std::min(radius, 255.0))};
}

// Of int8 by the integers: the numbers are 256 times probabilities, and scale times the integers of
// x; the clamp at 255/256 counts as the identity.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const Value y = c.output();
  ir::Graph& graph = y.graph();
  if (y.dtype() != DType::i8) {
    return {graph.add1(softmax_grad_op(), c.attrs, {c.grad(), y})};
  }
  const Value dx = graph.add1(softmax_grad_op(), c.attrs, {c.grad(), dequantize(y)});
  return {dx * (256.0 * static_cast<double>(c.input(0).quantization()->scales[0]))};
}

OpDef with_int8(OpDef def) {
  def.infer = infer;
  def.kernels.typed = {
      {.inputs = {DType::i8}, .ref = ir::kernel_fn<&i8::softmax_ref>(), .params = int8_params}};
  def.quantized.build = ir::same_op_on_int8;
  return def;
}

const OpDef& softmax_op() {
  static const OpDef def = with_int8(softmax_family_op({
      .name = "softmax",
      .signature{
          .doc =
              "Softmax over an axis: y = exp(x) / sum of exp(x). Of int8 with a scale it is int8 "
              "of the scale 1/256 and the zero point -128, with the bits of TensorFlow Lite's "
              "reference kernel.",
          .example = "auto p = softmax(logits);",
      },
      .gradient{.vjp = vjp},
      .kernels{
          .ref = ir::kernel_fn<&f32::softmax_ref>(),
          .ref64 = ir::kernel_fn<&f64::softmax_ref>(),
          .fast = ir::kernel_fn<&softmax_simd>(),
      },
  }));
  return def;
}

}  // namespace
}  // namespace thimble::ops::softmax_impl

THIMBLE_OP_FOLDER(softmax) {
  static const OpDef* const defs[] = {&softmax_op(), &softmax_grad_op()};
  return defs;
}

namespace thimble {
Value softmax(Value x, const SoftmaxOptions& options) {
  return x.graph().add1(ops::softmax_impl::softmax_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
