#include <thimble/ops/rms_norm.h>

#include "ops/families/builder/layer.h"
#include "ops/families/norm/row_norm.h"

#define THIMBLE_OP rms_norm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::rms_norm_impl {
namespace {

ir::Params params_of(const ir::KernelContext& c, const Shape& x) {
  const auto& attrs = c.attrs.as<RmsNormAttrs>();
  return row_norm_sizes(x, attrs.dims, attrs.epsilon);
}

const OpDef& rms_norm_grad_op() {
  static const OpDef def{
      .name = "rms_norm_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of rms_norm. With g = dy * gamma and xhat = x * rstd: dx = rstd * "
                 "(g - xhat * mean of (g * xhat)), dgamma = sum over rows of dy * xhat.",
          .inputs = {{"dy", "any shape"},
                     {"x", "the shape of dy"},
                     {"rstd", "one a row"},
                     {"gamma", "the last dims dimensions", true}},
          .outputs = {{"dx", "the shape of dy"}, {"dgamma", "the last dims dimensions"}},
          .attrs = ir::Attrs::schema_of<RmsNormAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<RmsNormAttrs>();
        check_row_norm(c, 0, attrs.dims);
        c.require(c.input(0) == c.input(1), "expected dy of the type of x");
        const Shape last = last_dims(c.shape(0), attrs.dims);
        check_same_shape(c, 2, 2, first_dims(c.shape(0), attrs.dims));
        check_same_shape(c, 3, 3, last);
        return {c.input(0), {DType::f32, last}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .workspace = row_norm_grad_workspace,
          .ref = ir::kernel_fn<&f32::rms_norm_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::rms_norm_grad_ref>(),
          .fast = ir::kernel_fn<&rms_norm_grad_simd>(),
          .stay_f32 = {1},
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 1, 2}, {0}};
          },
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
  };
  return def;
}

const OpDef& rms_norm_apply_op() {
  static const OpDef def{
      .name = "rms_norm_apply",
      .signature{
          .doc = "The y of rms_norm from its statistics: y = x * rstd * gamma.",
          .inputs = {{"x", "any shape of at least dims dimensions"},
                     {"gamma", "the last dims dimensions", true},
                     {"rstd", "one a row"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<RmsNormAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<RmsNormAttrs>();
        check_row_norm(c, 0, attrs.dims);
        check_same_shape(c, 1, 1, last_dims(c.shape(0), attrs.dims));
        check_same_shape(c, 2, 2, first_dims(c.shape(0), attrs.dims));
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .ref = ir::kernel_fn<&f32::rms_norm_apply_ref>(),
          .ref64 = ir::kernel_fn<&f64::rms_norm_apply_ref>(),
          .fast = ir::kernel_fn<&rms_norm_apply_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 2}, {0}};
          },
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

const OpDef& rms_norm_op() {
  static const OpDef def{
      .name = "rms_norm",
      .signature{
          .doc = "Root mean square normalisation: y = x / sqrt(mean of x^2 + epsilon) * gamma with "
                 "the mean over the last dims dimensions. No gradient flows through rstd as an "
                 "output.",
          .example = "auto y = rms_norm(x);",
          .inputs = {{"x", "any shape of at least dims dimensions"},
                     {"gamma", "the last dims dimensions", true}},
          .outputs = {{"y", "the shape of x"},
                      {"rstd", "one a row: 1 / sqrt(mean of x^2 + epsilon)"}},
          .attrs = ir::Attrs::schema_of<RmsNormAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<RmsNormAttrs>();
        check_row_norm(c, 0, attrs.dims);
        check_same_shape(c, 1, 1, last_dims(c.shape(0), attrs.dims));
        return {c.input(0), {DType::f32, first_dims(c.shape(0), attrs.dims)}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        if (!c.grad()) return {};
        const Value inputs[] = {c.grad(), c.input(0), c.output(1), c.input(1)};
        return c.grad().graph().add(rms_norm_grad_op(), c.attrs, inputs);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .ref = ir::kernel_fn<&f32::rms_norm_ref>(),
          .ref64 = ir::kernel_fn<&f64::rms_norm_ref>(),
          .fast = ir::kernel_fn<&rms_norm_simd>(),
          .stay_f32 = {1},
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0, 1}};
          },
      },
      .memory{
          .in_place = {{0, 0}},
          .rebuild = [](const ir::Attrs& attrs) -> ir::RebuildRule {
            return {&rms_norm_apply_op(), attrs, {0, 1, ~1}};
          },
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  const bool all = c.attrs.as<RmsNormAttrs>().dims == c.in(0).rank();
                  return all ? ir::Samples::mixed : ir::Samples::independent;
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::rms_norm_impl

THIMBLE_OP_FOLDER(rms_norm) {
  static const OpDef* const defs[] = {&rms_norm_op(), &rms_norm_apply_op(), &rms_norm_grad_op()};
  return defs;
}

namespace thimble {

void describe(RmsNormAttrs& a, ir::FieldVisitor& v) {
  v.field("dims", a.dims, "how many of the last dimensions are normalised together");
  v.field("epsilon", a.epsilon, "added to the mean of squares");
}

Value rms_norm(Value x, Value gamma, const RmsNormAttrs& attrs) {
  const Value inputs[] = {x, gamma};
  return x.graph().add(ops::rms_norm_impl::rms_norm_op(), ir::Attrs::of(attrs), inputs)[0];
}

Value rms_norm(Value x, const RmsNormOptions& options) {
  const ir::LayerScope layer(x.graph(), "rms_norm", options.name);
  Value gamma;
  if (options.affine && options.dims >= 1 && options.dims <= x.shape().rank()) {
    gamma = ops::layer_parameter(layer, x, "weight", ops::last_dims(x.shape(), options.dims),
                                 init::ones());
  }
  return rms_norm(x, gamma, {.dims = options.dims, .epsilon = options.epsilon});
}

}  // namespace thimble
