#include <thimble/ops/layer_norm.h>

#include "ops/families/builder/layer.h"
#include "ops/families/norm/row_norm.h"

#define THIMBLE_OP layer_norm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::layer_norm_impl {
namespace {

ir::Params params_of(const ir::KernelContext& c, const Shape& x) {
  const auto& attrs = c.attrs.as<LayerNormAttrs>();
  return row_norm_sizes(x, attrs.dims, attrs.epsilon);
}

std::vector<ir::TensorType> infer_grad(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<LayerNormAttrs>();
  check_row_norm(c, 0, attrs.dims);
  c.require(c.input(0) == c.input(1), "expected dy of the type of x");
  const Shape last = last_dims(c.shape(0), attrs.dims);
  check_same_shape(c, 2, 3, first_dims(c.shape(0), attrs.dims));
  check_same_shape(c, 4, 4, last);
  return {c.input(0), {DType::f32, last}, {DType::f32, last}};
}

const OpDef& layer_norm_grad_op() {
  static const OpDef def{
      .name = "layer_norm_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of layer_norm. With g = dy * gamma and xhat = (x - mean) * rstd: "
                 "dx = rstd * (g - mean of g - xhat * mean of (g * xhat)), dgamma = sum over rows "
                 "of dy * xhat, dbeta = sum over rows of dy.",
          .inputs = {{"dy", "any shape"},
                     {"x", "the shape of dy"},
                     {"mean", "one a row"},
                     {"rstd", "one a row"},
                     {"gamma", "the last dims dimensions", true}},
          .outputs = {{"dx", "the shape of dy"},
                      {"dgamma", "the last dims dimensions"},
                      {"dbeta", "the last dims dimensions"}},
          .attrs = ir::Attrs::schema_of<LayerNormAttrs>(),
      },
      .infer = infer_grad,
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .workspace = row_norm_grad_workspace,
          .ref = ir::kernel_fn<&f32::layer_norm_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::layer_norm_grad_ref>(),
          .fast = ir::kernel_fn<&layer_norm_grad_simd>(),
          .stay_f32 = {1, 2},
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 1, 2, 3}, {0}};
          },
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
  };
  return def;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<LayerNormAttrs>();
  check_row_norm(c, 0, attrs.dims);
  check_same_shape(c, 1, 2, last_dims(c.shape(0), attrs.dims));
  const ir::TensorType statistic{DType::f32, first_dims(c.shape(0), attrs.dims)};
  return {c.input(0), statistic, statistic};
}

const OpDef& layer_norm_apply_op() {
  static const OpDef def{
      .name = "layer_norm_apply",
      .signature{
          .doc = "The y of layer_norm from its statistics: y = (x - mean) * rstd * gamma + beta.",
          .inputs = {{"x", "any shape of at least dims dimensions"},
                     {"gamma", "the last dims dimensions", true},
                     {"beta", "the last dims dimensions", true},
                     {"mean", "one a row"},
                     {"rstd", "one a row"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<LayerNormAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<LayerNormAttrs>();
        check_row_norm(c, 0, attrs.dims);
        check_same_shape(c, 1, 2, last_dims(c.shape(0), attrs.dims));
        check_same_shape(c, 3, 4, first_dims(c.shape(0), attrs.dims));
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .ref = ir::kernel_fn<&f32::layer_norm_apply_ref>(),
          .ref64 = ir::kernel_fn<&f64::layer_norm_apply_ref>(),
          .fast = ir::kernel_fn<&layer_norm_apply_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 3, 4}, {0}};
          },
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

const OpDef& layer_norm_op() {
  static const OpDef def{
      .name = "layer_norm",
      .signature{
          .doc = "Layer normalisation: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta "
                 "with the mean and (biased) variance over the last dims dimensions. No gradient "
                 "flows through the statistics as outputs.",
          .example = "auto y = layer_norm(x);",
          .inputs = {{"x", "any shape of at least dims dimensions"},
                     {"gamma", "the last dims dimensions", true},
                     {"beta", "the last dims dimensions", true}},
          .outputs = {{"y", "the shape of x"},
                      {"mean", "one a row"},
                      {"rstd", "one a row: 1 / sqrt(variance + epsilon)"}},
          .attrs = ir::Attrs::schema_of<LayerNormAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        if (!c.grad()) return {};
        const Value inputs[] = {c.grad(), c.input(0), c.output(1), c.output(2), c.input(1)};
        return c.grad().graph().add(layer_norm_grad_op(), c.attrs, inputs);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .ref = ir::kernel_fn<&f32::layer_norm_ref>(),
          .ref64 = ir::kernel_fn<&f64::layer_norm_ref>(),
          .fast = ir::kernel_fn<&layer_norm_simd>(),
          .stay_f32 = {1, 2},
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0, 1, 2}};
          },
      },
      .memory{
          .in_place = {{0, 0}},
          .rebuild = [](const ir::Attrs& attrs) -> ir::RebuildRule {
            return {&layer_norm_apply_op(), attrs, {0, 1, 2, ~1, ~2}};
          },
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  const bool all = c.attrs.as<LayerNormAttrs>().dims == c.in(0).rank();
                  return all ? ir::Samples::mixed : ir::Samples::independent;
                }},
      .layer = [](const ir::KernelContext&) -> std::optional<ir::LayerParameters> {
        return ir::LayerParameters{.weight = 1, .bias = 2};
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::layer_norm_impl

THIMBLE_OP_FOLDER(layer_norm) {
  static const OpDef* const defs[] = {&layer_norm_op(), &layer_norm_apply_op(),
                                      &layer_norm_grad_op()};
  return defs;
}

namespace thimble {

void describe(LayerNormAttrs& a, ir::FieldVisitor& v) {
  v.field("dims", a.dims, "how many of the last dimensions are normalised together");
  v.field("epsilon", a.epsilon, "added to the variance");
}

Value layer_norm(Value x, Value gamma, Value beta, const LayerNormAttrs& attrs) {
  const Value inputs[] = {x, gamma, beta};
  return x.graph().add(ops::layer_norm_impl::layer_norm_op(), ir::Attrs::of(attrs), inputs)[0];
}

Value layer_norm(Value x, const LayerNormOptions& options) {
  const ir::LayerScope layer(x.graph(), "layer_norm", options.name);
  Value gamma;
  Value beta;
  if (options.affine && options.dims >= 1 && options.dims <= x.shape().rank()) {
    const Shape shape = ops::last_dims(x.shape(), options.dims);
    gamma = ops::layer_parameter(layer, x, "weight", shape, init::ones());
    if (options.bias) beta = ops::layer_parameter(layer, x, "bias", shape, init::zeros());
  }
  return layer_norm(x, gamma, beta, {.dims = options.dims, .epsilon = options.epsilon});
}

}  // namespace thimble
