#include <thimble/ops/affine.h>
#include <thimble/ops/quantize.h>

#include "ir/graph.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantize/dims.h"

#define THIMBLE_OP quantize
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantize_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  return {quantized_type(c, c.shape(0), result_of(c.attrs.as<QuantizeOptions>()))};
}

const OpDef& inside_op();

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto scale = static_cast<double>(c.output().quantization()->scales[0]);
  return {straight_through(c, inside_op()) * (1.0 / scale)};
}

const OpDef& quantize_op() {
  static const OpDef def{
      .name = "quantize",
      .signature{
          .doc = "Numbers as int8: y = clamp(round(x / scale) + zero_point, -128, 127).",
          .example = "auto y = quantize(x, {.scale = 0.05, .zero_point = -128});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the shape of x, i8 with this quantization"}},
          .attrs = ir::Attrs::schema_of<QuantizeOptions>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const QuantizedResult result = result_of(c.attrs.as<QuantizeOptions>());
            return quantize_dims{static_cast<int>(c.out().elements()),
                                 static_cast<float>(result.scale), kernel_result(result)};
          },
          .ref = ir::kernel_fn<&f32::quantize_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantize_ref>(),
      },
      .flow{.elementwise = true},
      .quantized{.to_int8 =
                     [](double scale, int64_t zero_point, Requantization requantization) {
                       return ir::Attrs::of(QuantizeOptions{scale, zero_point, requantization});
                     }},
  };
  return def;
}

const OpDef& inside_op() {
  static const OpDef def = ops::inside_op(quantize_op(), "quantize_inside", infer_inside<infer>,
                                          ir::kernel_fn<&f32::quantize_inside_ref>(),
                                          ir::kernel_fn<&f64::quantize_inside_ref>());
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantize_impl

THIMBLE_OP_FOLDER(quantize) {
  static const OpDef* const defs[] = {&quantize_op(), &inside_op()};
  return defs;
}

namespace thimble {

void describe(QuantizeOptions& o, ir::FieldVisitor& v) { ops::describe_result(o, v); }

Value quantize(Value x, const QuantizeOptions& options) {
  return x.graph().add1(ops::quantize_impl::quantize_op(), ir::Attrs::of(options), {x});
}

}  // namespace thimble
