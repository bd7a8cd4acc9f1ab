#include <thimble/ops/group_norm.h>

#include "ir/function_def.h"
#include "ops/families/builder/layer.h"
#include "ops/families/norm/batch_norm.h"
#include "ops/families/norm/group_norm.h"
#include "ops/families/norm/row_norm.h"
#include "ops/group_norm/attrs.h"

#define THIMBLE_OP group_norm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::group_norm_impl {
namespace {

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<GroupNormAttrs>();
  return group_norm_sizes(c.in(0), attrs.groups, attrs.epsilon);
}

Shape statistics_shape(const ir::InferContext& c) {
  return {c.shape(0)[0], c.attrs.as<GroupNormAttrs>().groups};
}

std::vector<ir::TensorType> infer_grad(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<GroupNormAttrs>();
  check_groups(c, 0, attrs.groups);
  c.require(c.input(0) == c.input(1), "expected dy of the type of x");
  check_same_shape(c, 2, 3, statistics_shape(c));
  check_channel_values(c, 4, 4);
  const ir::TensorType channel_values{DType::f32, {c.shape(0)[-1]}};
  return {c.input(0), channel_values, channel_values};
}

const OpDef& group_norm_grad_op() {
  static const OpDef def{
      .name = "group_norm_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of group_norm. With m values a group, g = dy * gamma, s = "
                 "sqrt(variance + epsilon) and xhat = (x - mean) / s: dx = (g - (sum of g + xhat * "
                 "sum of (g * xhat)) / m) / s, dgamma = sum of dy * xhat, dbeta = sum of dy.",
          .inputs = {{"dy", "[N, ..., C]"},
                     {"x", "[N, ..., C]"},
                     {"mean", "[N, groups]"},
                     {"variance", "[N, groups], biased"},
                     {"gamma", "[C]", true}},
          .outputs = {{"dx", "[N, ..., C]"}, {"dgamma", "[C]"}, {"dbeta", "[C]"}},
          .attrs = ir::Attrs::schema_of<GroupNormAttrs>(),
      },
      .infer = infer_grad,
      .kernels{
          .params = params,
          .workspace = group_norm_grad_workspace,
          .ref = ir::kernel_fn<&f32::group_norm_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::group_norm_grad_ref>(),
          .fast = ir::kernel_fn<&normalise_groups_grad>(),
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
  const auto& attrs = c.attrs.as<GroupNormAttrs>();
  check_groups(c, 0, attrs.groups);
  check_channel_values(c, 1, 2);
  const ir::TensorType statistic{DType::f32, statistics_shape(c)};
  return {c.input(0), statistic, statistic};
}

// The number of groups follows from the shape of the statistics, because instance_norm shares this
// op.
const OpDef& group_norm_apply_op() {
  static const OpDef def{
      .name = "group_norm_apply",
      .signature{
          .doc = "The y of group_norm or instance_norm from their statistics: y = (x - mean) / "
                 "sqrt(variance + epsilon) * gamma + beta.",
          .inputs = {{"x", "[N, ..., C]"},
                     {"gamma", "[C]", true},
                     {"beta", "[C]", true},
                     {"mean", "[N, groups]"},
                     {"variance", "[N, groups], biased"}},
          .outputs = {{"y", "[N, ..., C]"}},
          .attrs = ir::Attrs::schema_of<GroupNormApplyAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(3, 2);
        check_groups(c, 0, c.shape(3)[1]);
        check_channel_values(c, 1, 2);
        check_same_shape(c, 3, 4, {c.shape(0)[0], c.shape(3)[1]});
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return group_norm_sizes(c.in(0), c.in(3)[1], c.attrs.as<GroupNormApplyAttrs>().epsilon);
          },
          .workspace = group_norm_workspace,
          .ref = ir::kernel_fn<&f32::group_norm_apply_ref>(),
          .ref64 = ir::kernel_fn<&f64::group_norm_apply_ref>(),
          .fast = ir::kernel_fn<&scale_groups>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 3, 4}, {0}};
          },
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

const OpDef& group_norm_op() {
  static const OpDef def{
      .name = "group_norm",
      .signature{
          .doc = "Group normalisation: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta "
                 "with the mean and (biased) variance of each group of channels over all positions "
                 "of one image. No gradient flows through the statistics as outputs.",
          .example = "auto y = group_norm(x, {.groups = 8});",
          .inputs = {{"x", "[N, ..., C]"}, {"gamma", "[C]", true}, {"beta", "[C]", true}},
          .outputs = {{"y", "[N, ..., C]"},
                      {"mean", "[N, groups]"},
                      {"variance", "[N, groups], biased"}},
          .attrs = ir::Attrs::schema_of<GroupNormAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        if (!c.grad()) return {};
        const GroupNormGrads grads = group_norm_grad(c.grad(), c.input(0), c.output(1), c.output(2),
                                                     c.input(1), c.attrs.as<GroupNormAttrs>());
        return {grads.dx, grads.dgamma, grads.dbeta};
      }},
      .kernels{
          .params = params,
          .workspace = group_norm_workspace,
          .ref = ir::kernel_fn<&f32::normalise_groups_ref>(),
          .ref64 = ir::kernel_fn<&f64::normalise_groups_ref>(),
          .fast = ir::kernel_fn<&normalise_groups>(),
          .stay_f32 = {1, 2},
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0, 1, 2}};
          },
      },
      .memory{
          .in_place = {{0, 0}},
          .rebuild =
              [](const ir::Attrs& attrs) {
                return group_norm_rebuild(attrs.as<GroupNormAttrs>().epsilon);
              },
      },
      .layer = [](const ir::KernelContext&) -> std::optional<ir::LayerParameters> {
        return ir::LayerParameters{.weight = 1, .bias = 2};
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::group_norm_impl

namespace thimble::ops {

ir::RebuildRule group_norm_rebuild(double epsilon) {
  return {&group_norm_impl::group_norm_apply_op(),
          ir::Attrs::of(GroupNormApplyAttrs{epsilon}),
          {0, 1, 2, ~1, ~2}};
}

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(group_norm) {
  static const OpDef* const defs[] = {&group_norm_op(), &group_norm_apply_op(),
                                      &group_norm_grad_op()};
  return defs;
}

namespace thimble {

void describe(GroupNormOptions& o, ir::OptionVisitor& v) {
  v.field("groups", o.groups, "of neighbouring channels; must be set, divides their number");
  v.field("epsilon", o.epsilon, "added to the variance");
  v.field("affine", o.affine, "with a trained scale and shift");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(GroupNormAttrs& a, ir::FieldVisitor& v) {
  v.field("groups", a.groups, "of neighbouring channels; divides their number");
  v.field("epsilon", a.epsilon, "added to the variance");
}

Value group_norm(Value x, Value gamma, Value beta, const GroupNormAttrs& attrs) {
  const Value inputs[] = {x, gamma, beta};
  return x.graph().add(ops::group_norm_impl::group_norm_op(), ir::Attrs::of(attrs), inputs)[0];
}

Value group_norm(Value x, const GroupNormOptions& options) {
  const ir::LayerScope layer(x.graph(), "group_norm", options.name);
  Value gamma;
  Value beta;
  if (options.affine && x.shape().rank() >= 1) {
    const Shape channels{x.shape()[-1]};
    gamma = ops::layer_parameter(layer, x, "weight", channels, init::ones());
    beta = ops::layer_parameter(layer, x, "bias", channels, init::zeros());
  }
  return group_norm(x, gamma, beta, {.groups = options.groups, .epsilon = options.epsilon});
}

GroupNormGrads group_norm_grad(Value dy, Value x, Value mean, Value variance, Value gamma,
                               const GroupNormAttrs& attrs) {
  const Value inputs[] = {dy, x, mean, variance, gamma};
  const std::vector<Value> grads =
      dy.graph().add(ops::group_norm_impl::group_norm_grad_op(), ir::Attrs::of(attrs), inputs);
  return {grads[0], grads[1], grads[2]};
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(group_norm) {
  static const FunctionDef group_norm_function{
      .name = "group_norm",
      .doc = "A group normalisation layer: groups of channels of one image are normalised.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[C]", true}, {"bias", "[C]", true}},
      .options = ir::OptionSchema::of<GroupNormOptions>(),
      .required = {"groups"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {group_norm(in[0], options_as<GroupNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&group_norm_function};
  return defs;
}
