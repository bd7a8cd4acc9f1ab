#include <thimble/ops/affine.h>
#include <thimble/ops/requantize.h>

#include "ir/graph.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/quantized.h"
#include "ops/requantize/dims.h"

#define THIMBLE_OP requantize
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::requantize_impl {
namespace {

double factor_of(const ir::TensorType& x, const RequantizeOptions& options) {
  return static_cast<double>(scale_of(x)) / static_cast<double>(static_cast<float>(options.scale));
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& options = c.attrs.as<RequantizeOptions>();
  require_quantized(c, 0);
  ir::TensorType type = quantized_type(c, c.shape(0), result_of(options));
  require_factor(c, factor_of(c.input(0), options), "the scale of x by that of the result");
  return {type};
}

const OpDef& inside_op();

std::vector<Value> vjp(const ir::VjpContext& c) {
  const Value x = c.input(0);
  const double factor = factor_of(x.graph().type(x.id()), c.attrs.as<RequantizeOptions>());
  return {straight_through(c, inside_op()) * factor};
}

const OpDef& requantize_op() {
  static const OpDef def{
      .name = "requantize",
      .signature{
          .doc = "int8 under another scale and zero point: y = clamp(round((x - its zero point) * "
                 "its scale / scale) + zero_point, -128, 127).",
          .example = "auto y = requantize(x, {.scale = 0.1, .zero_point = 3});",
          .inputs = {{.name = "x", .doc = "any shape, i8 with one scale", .types = DType::i8}},
          .outputs = {{"y", "the shape of x, i8 with this quantization"}},
          .attrs = ir::Attrs::schema_of<RequantizeOptions>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& options = c.attrs.as<RequantizeOptions>();
            return requantize_dims{
                static_cast<int>(c.out().elements()), zero_point_of(*c.inputs[0]),
                kernel_factor(factor_of(*c.inputs[0], options), options.requantization),
                kernel_result(result_of(options))};
          },
          .ref = ir::kernel_fn<&f32::requantize_ref>(),
          .ref64 = ir::kernel_fn<&f64::requantize_ref>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.elementwise = true},
  };
  return def;
}

const OpDef& inside_op() {
  static const OpDef def = ops::inside_op(requantize_op(), "requantize_inside", infer_inside<infer>,
                                          ir::kernel_fn<&f32::requantize_inside_ref>(),
                                          ir::kernel_fn<&f64::requantize_inside_ref>());
  return def;
}

}  // namespace
}  // namespace thimble::ops::requantize_impl

THIMBLE_OP_FOLDER(requantize) {
  static const OpDef* const defs[] = {&requantize_op(), &inside_op()};
  return defs;
}

namespace thimble {

void describe(RequantizeOptions& o, ir::FieldVisitor& v) { ops::describe_result(o, v); }

Value requantize(Value x, const RequantizeOptions& options) {
  return x.graph().add1(ops::requantize_impl::requantize_op(), ir::Attrs::of(options), {x});
}

}  // namespace thimble
