#include <thimble/ops/batch_norm_inference.h>
#include <thimble/ops/group_norm.h>
#include <thimble/ops/instance_norm.h>

#include <fmt/format.h>

#include "ir/function_def.h"
#include "ops/families/builder/layer.h"
#include "ops/families/norm/batch_norm.h"
#include "ops/families/norm/group_norm.h"
#include "ops/instance_norm/attrs.h"

#define THIMBLE_OP instance_norm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::instance_norm_impl {
namespace {

int64_t positions_of(const Shape& x) {
  int64_t positions = 1;
  for (int axis = 1; axis + 1 < x.rank(); ++axis) positions *= x[axis];
  return positions;
}

void fast(float* y, float* mean, float* variance, const float* x, const float* gamma,
          const float* beta, const float* /*running_mean*/, const float* /*running_var*/,
          void* workspace, const group_norm_dims* d, parallel::ThreadPool& pool) {
  normalise_groups(y, mean, variance, x, gamma, beta, workspace, d, pool);
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const Shape& x = c.shape(0);
  check_groups(c, 0, x.rank() > 0 ? x[-1] : 1);
  check_channel_values(c, 1, 4);
  c.require(c.has(3) == c.has(4), "expected both running statistics or none");
  const ir::TensorType statistic{DType::f32, {x[0], x[-1]}};
  return {c.input(0), statistic, statistic};
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  if (!c.grad()) return {};
  const GroupNormGrads grads = group_norm_grad(
      c.grad(), c.input(0), c.output(1), c.output(2), c.input(1),
      {.groups = c.input(0).shape()[-1], .epsilon = c.attrs.as<InstanceNormAttrs>().epsilon});
  return {grads.dx, grads.dgamma, grads.dbeta};
}

const OpDef& instance_norm_op();

// At inference the running statistics, if there are any, replace those of the image.
std::vector<Value> specialize(const ir::RewriteContext& c, ir::Phase phase) {
  const Shape& x = c.input(0).shape();
  if (phase == ir::Phase::inference && c.input(3)) {
    const Value y = batch_norm_inference(c.input(0), c.input(1), c.input(2), c.input(3), c.input(4),
                                         {.epsilon = c.attrs.as<InstanceNormAttrs>().epsilon});
    return {y, c.input(3), c.input(4)};
  }
  if (positions_of(x) == 1) {
    throw Error("instance_norm",
                fmt::format("images of one position have no variance; got {}", to_string(x)));
  }
  if (!is_computed(c.input(3))) return {};
  const Value inputs[] = {c.input(0), c.input(1), c.input(2)};
  return c.graph.add(instance_norm_op(), c.attrs, inputs);
}

const OpDef& instance_norm_op() {
  static const OpDef def{
      .name = "instance_norm",
      .signature{
          .doc = "Instance normalisation: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta "
                 "with each channel's mean and (biased) variance over all positions of one image. "
                 "No gradient flows through the statistics as outputs. At inference, with running "
                 "statistics: batch_norm_inference.",
          .example = "auto y = instance_norm(x, {.affine = true});",
          .inputs = {{"x", "[N, ..., C]"},
                     {"gamma", "[C]", true},
                     {"beta", "[C]", true},
                     {"running_mean", "[C], read at inference", true},
                     {"running_var", "[C], read at inference", true}},
          .outputs = {{"y", "[N, ..., C]"}, {"mean", "[N, C]"}, {"variance", "[N, C], biased"}},
          .attrs = ir::Attrs::schema_of<InstanceNormAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{.specialize = specialize},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return group_norm_sizes(c.in(0), c.in(0)[-1], c.attrs.as<InstanceNormAttrs>().epsilon);
          },
          .workspace = group_norm_workspace,
          .ref = ir::kernel_fn<&f32::instance_norm_ref>(),
          .ref64 = ir::kernel_fn<&f64::instance_norm_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .stay_f32 = {1, 2},
      },
      .memory{
          .in_place = {{0, 0}},
          .rebuild =
              [](const ir::Attrs& attrs) {
                return group_norm_rebuild(attrs.as<InstanceNormAttrs>().epsilon);
              },
      },
      .layer = [](const ir::KernelContext&) -> std::optional<ir::LayerParameters> {
        return ir::LayerParameters{.weight = 1, .bias = 2};
      },
  };
  return def;
}

std::vector<ir::TensorType> infer_update(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<InstanceNormUpdateAttrs>();
  c.require_rank(0, 1);
  check_channel_values(c, 0, 1);
  c.require_rank(2, 2);
  c.require(c.input(2) == c.input(3) && c.shape(2)[1] == c.shape(0)[0],
            "expected the statistics of each image and channel");
  c.require(attrs.momentum >= 0.0 && attrs.momentum <= 1.0, "expected a momentum of 0 to 1");
  return {c.input(0), c.input(1)};
}

// A separate op for the same reasons as batch_norm_update.
const OpDef& instance_norm_update_op() {
  static const OpDef def{
      .name = "instance_norm_update",
      .signature{
          .doc = "Moves running statistics towards the mean over images of their own: running = (1 "
                 "- momentum) * running + momentum * mean, the variance made unbiased. Nothing at "
                 "inference.",
          .inputs = {{"running_mean", "[C]"},
                     {"running_var", "[C]"},
                     {"mean", "[N, C]"},
                     {"variance", "[N, C], biased"}},
          .outputs = {{"new_mean", "[C]"}, {"new_var", "[C]"}},
          .attrs = ir::Attrs::schema_of<InstanceNormUpdateAttrs>(),
      },
      .infer = infer_update,
      .rewrite{
          .specialize = [](const ir::RewriteContext& c, ir::Phase phase) -> std::vector<Value> {
            if (phase == ir::Phase::training) return {};
            return {c.input(0), c.input(1)};
          }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<InstanceNormUpdateAttrs>();
            group_norm_dims d{};
            d.images = static_cast<int>(c.in(2)[0]);
            d.channels = static_cast<int>(c.in(2)[1]);
            d.positions = static_cast<int>(attrs.values);
            d.momentum = static_cast<float>(attrs.momentum);
            return d;
          },
          .ref = ir::kernel_fn<&f32::instance_norm_update_ref>(),
          .ref64 = ir::kernel_fn<&f64::instance_norm_update_ref>(),
      },
      .memory{.updates = {{0, 0}, {1, 1}}},
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::statistics; }},
  };
  return def;
}

// Adds the op, and what moves the running statistics where they are kept. Returns y.
Value normalised(const Value (&inputs)[5], const InstanceNormOptions& options) {
  ir::Graph& graph = inputs[0].graph();
  const std::vector<Value> out =
      graph.add(instance_norm_op(), ir::Attrs::of(InstanceNormAttrs{options.epsilon}), inputs);
  if (is_kept(inputs[3]) && is_kept(inputs[4])) {
    const Value statistics[] = {inputs[3], inputs[4], out[1], out[2]};
    graph.add(instance_norm_update_op(),
              ir::Attrs::of(InstanceNormUpdateAttrs{.momentum = options.momentum,
                                                    .values = positions_of(inputs[0].shape())}),
              statistics);
  }
  return out[0];
}

void check_images(const Value& x) {
  if (x.shape().rank() < 2 || x.shape()[-1] < 1) {
    throw Error("instance_norm",
                fmt::format("expected x [N, ..., C], got {}", to_string(x.shape())));
  }
}

}  // namespace
}  // namespace thimble::ops::instance_norm_impl

THIMBLE_OP_FOLDER(instance_norm) {
  static const OpDef* const defs[] = {&instance_norm_op(), &instance_norm_update_op()};
  return defs;
}

namespace thimble {

void describe(InstanceNormOptions& o, ir::OptionVisitor& v) {
  v.field("momentum", o.momentum, "weight of a new batch in the running statistics, as in PyTorch");
  v.field("epsilon", o.epsilon, "added to the variance");
  v.field("affine", o.affine, "with a trained scale and shift");
  v.field("track_running_stats", o.track_running_stats,
          "normalise by running statistics at inference");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(InstanceNormAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
}

Value instance_norm(Value x, const InstanceNormOptions& options) {
  ops::instance_norm_impl::check_images(x);
  const ir::LayerScope layer(x.graph(), "instance_norm", options.name);
  const Shape channels{x.shape()[-1]};
  Value inputs[5] = {x};
  if (options.affine) {
    inputs[1] = ops::layer_parameter(layer, x, "weight", channels, init::ones());
    inputs[2] = ops::layer_parameter(layer, x, "bias", channels, init::zeros());
  }
  if (options.track_running_stats) {
    const auto state = [&](const char* name, const Initializer& init) {
      return x.graph().source(layer.name() + "." + name, {DType::f32, channels}, ir::Role::state,
                              init);
    };
    inputs[3] = state("running_mean", init::zeros());
    inputs[4] = state("running_var", init::ones());
  }
  return ops::instance_norm_impl::normalised(inputs, options);
}

Value instance_norm(Value x, Value gamma, Value beta, Value running_mean, Value running_var,
                    const InstanceNormOptions& options) {
  ops::instance_norm_impl::check_images(x);
  const ir::LayerScope layer(x.graph(), "instance_norm", options.name);
  const Value inputs[] = {x, gamma, beta, ops::latest(running_mean), ops::latest(running_var)};
  return ops::instance_norm_impl::normalised(inputs, options);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(instance_norm) {
  static const FunctionDef instance_norm_function{
      .name = "instance_norm",
      .doc = "An instance normalisation layer: each channel of one image is normalised by itself.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[C]", true},
                     {"bias", "[C]", true},
                     {.name = "running_mean", .doc = "[C], state", .optional = true, .state = true},
                     {.name = "running_var", .doc = "[C], state", .optional = true, .state = true}},
      .options = ir::OptionSchema::of<InstanceNormOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {instance_norm(in[0], options_as<InstanceNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&instance_norm_function};
  return defs;
}
