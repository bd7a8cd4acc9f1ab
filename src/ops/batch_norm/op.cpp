#include <thimble/ops/batch_norm.h>
#include <thimble/ops/batch_norm_grad.h>
#include <thimble/ops/batch_norm_inference.h>

#include <fmt/format.h>

#include "ir/function_def.h"
#include "ops/families/builder/layer.h"
#include "ops/families/norm/batch_norm.h"
#include "ops/families/norm/batch_norm_kernels.h"
#include "ops/families/unary/activation_grad.h"

#define THIMBLE_OP batch_norm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::batch_norm_impl {
namespace {

struct BatchNormUpdateAttrs {
  double momentum = 0.1;
  int64_t values = 2;   // number of values from which each channel's statistics were computed
  bool biased = false;  // the variance is taken as it is
};

void describe(BatchNormUpdateAttrs& a, ir::FieldVisitor& v) {
  v.field("momentum", a.momentum, "weight of the batch in the running statistics");
  v.field("values", a.values, "values that each channel's statistics were computed from");
  v.field("biased", a.biased, "the variance is not made unbiased");
}

void check_attrs(const ir::InferContext& c, double momentum, double epsilon) {
  c.require(momentum >= 0.0 && momentum <= 1.0, "expected a momentum of 0 to 1");
  c.require(epsilon >= 0.0, "expected an epsilon of at least 0");
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<BatchNormAttrs>();
  check_channels_last(c, 0);
  check_channel_values(c, 1, 4);
  c.require(c.has(3) == c.has(4), "expected both running statistics or none");
  check_attrs(c, attrs.momentum, attrs.epsilon);
  const ir::TensorType statistic{DType::f32, {c.shape(0)[-1]}};
  return {c.input(0), statistic, statistic};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<BatchNormAttrs>();
  batch_norm_dims d = batch_norm_sizes(c.in(0), attrs.epsilon);
  d.activation = kernel_activation_of(attrs.activation);
  return d;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<BatchNormAttrs>();
  const Value dy = activation_grad(attrs.activation, c.grad(), c.output());
  const BatchNormGrads grads = batch_norm_grad(dy, c.input(0), c.output(1), c.output(2), c.input(1),
                                               {.epsilon = attrs.epsilon});
  return {grads.dx, grads.dgamma, grads.dbeta};
}

const OpDef& batch_norm_op();

// At inference the running statistics, if there are any, replace those of the batch.
std::vector<Value> specialize(const ir::RewriteContext& c, ir::Phase phase) {
  const auto& attrs = c.attrs.as<BatchNormAttrs>();
  const Value x = c.input(0);
  const bool has_running = bool(c.input(3));
  if (phase == ir::Phase::training || !has_running) {
    if (values_per_channel(x.shape()) == 1) {
      throw Error("batch_norm", fmt::format("{}; got {}", kOneValue, to_string(x.shape())));
    }
    if (!is_computed(c.input(3))) return {};
    const Value inputs[] = {x, c.input(1), c.input(2)};
    return c.graph.add(batch_norm_op(), c.attrs, inputs);
  }
  const Value y = batch_norm_inference(x, c.input(1), c.input(2), c.input(3), c.input(4),
                                       {.epsilon = attrs.epsilon, .activation = attrs.activation});
  return {y, c.input(3), c.input(4)};
}

// With known statistics every value is scaled and shifted on its own.
ir::RebuildRule rebuild(const ir::Attrs& node) {
  const auto& attrs = node.as<BatchNormAttrs>();
  return {&batch_norm_inference_op(),
          ir::Attrs::of(
              BatchNormInferenceAttrs{.epsilon = attrs.epsilon, .activation = attrs.activation}),
          {0, 1, 2, ~1, ~2}};
}

const OpDef& batch_norm_op() {
  static const OpDef def{
      .name = "batch_norm",
      .signature{
          .doc = "Batch normalisation with the statistics of the batch: y = act((x - mean) / "
                 "sqrt(variance + epsilon) * gamma + beta), channel by channel. No gradient flows "
                 "through the statistics as outputs. At inference: batch_norm_inference with the "
                 "running statistics, where there are any.",
          .example = "auto y = batch_norm(x);",
          .inputs = {{"x", "[N, ..., C]"},
                     {"gamma", "[C]", true},
                     {"beta", "[C]", true},
                     {"running_mean", "[C], read at inference", true},
                     {"running_var", "[C], read at inference", true}},
          .outputs = {{"y", "[N, ..., C]"},
                      {"mean", "[C], of the batch"},
                      {"variance", "[C], of the batch, biased"}},
          .attrs = ir::Attrs::schema_of<BatchNormAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{
          .specialize = specialize,
          .fuse_activation = fuse_activation<BatchNormAttrs>,
      },
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return batch_norm_workspace_bytes(p.as<batch_norm_dims>(), threads);
              },
          .ref = ir::kernel_fn<&f32::batch_norm_ref>(),
          .ref64 = ir::kernel_fn<&f64::batch_norm_ref>(),
          .fast = ir::kernel_fn<&batch_norm_simd>(),
          .stay_f32 = {1, 2},
          .fast_16bit = batch_norm_16bit,
          .inputs_16bit = {0},
          .workspace_16bit =
              [](const ir::Params& p, int threads) {
                return batch_norm_16bit_workspace_bytes(p.as<batch_norm_dims>(), threads);
              },
      },
      .memory{
          .in_place = {{0, 0}},
          .rebuild = rebuild,
      },
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::statistics; }},
      .layer = [](const ir::KernelContext&) -> std::optional<ir::LayerParameters> {
        return ir::LayerParameters{.weight = 1, .bias = 2};
      },
  };
  return def;
}

std::vector<ir::TensorType> infer_update(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<BatchNormUpdateAttrs>();
  c.require_rank(0, 1);
  check_channel_values(c, 0, 3);
  check_attrs(c, attrs.momentum, 0.0);
  return {c.input(0), c.input(1)};
}

ir::Params update_params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<BatchNormUpdateAttrs>();
  batch_norm_dims d{};
  d.rows =
      attrs.biased ? 1 : static_cast<int>(attrs.values);  // what one value gives is not changed
  d.channels = static_cast<int>(c.in(0)[0]);
  d.momentum = static_cast<float>(attrs.momentum);
  return d;
}

// A separate op, so that batch_norm has no side effect and may be recomputed, and so that a step
// whose loss is not finite does not change the running statistics.
const OpDef& batch_norm_update_op() {
  static const OpDef def{
      .name = "batch_norm_update",
      .signature{
          .doc = "Moves running statistics towards those of a batch: running = (1 - momentum) * "
                 "running + momentum * batch, the variance made unbiased. Nothing at inference.",
          .inputs = {{"running_mean", "[C]"},
                     {"running_var", "[C]"},
                     {"mean", "[C], of the batch"},
                     {"variance", "[C], of the batch, biased"}},
          .outputs = {{"new_mean", "[C]"}, {"new_var", "[C]"}},
          .attrs = ir::Attrs::schema_of<BatchNormUpdateAttrs>(),
      },
      .infer = infer_update,
      .rewrite{
          .specialize = [](const ir::RewriteContext& c, ir::Phase phase) -> std::vector<Value> {
            if (phase == ir::Phase::training) return {};
            return {c.input(0), c.input(1)};
          }},
      .kernels{
          .params = update_params,
          .ref = ir::kernel_fn<&f32::batch_norm_update_ref>(),
          .ref64 = ir::kernel_fn<&f64::batch_norm_update_ref>(),
      },
      .memory{.updates = {{0, 0}, {1, 1}}},
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::statistics; }},
  };
  return def;
}

std::vector<ir::TensorType> infer_cumulative(const ir::InferContext& c) {
  c.require_rank(0, 1);
  check_channel_values(c, 0, 1);
  check_channel_values(c, 3, 4);
  c.require(c.shape(2).rank() == 0, "expected one number as the count");
  return {c.input(0), c.input(1), c.input(2)};
}

const OpDef& batch_norm_cumulative_update_op() {
  static const OpDef def{
      .name = "batch_norm_cumulative_update",
      .signature{
          .doc = "Makes running statistics the means over all batches so far: running = running + "
                 "(batch - running) / (count + 1), the variance made unbiased, and counts the "
                 "batch. Nothing at inference.",
          .inputs = {{"running_mean", "[C]"},
                     {"running_var", "[C]"},
                     {"count", "one number: batches so far"},
                     {"mean", "[C], of the batch"},
                     {"variance", "[C], of the batch, biased"}},
          .outputs = {{"new_mean", "[C]"}, {"new_var", "[C]"}, {"new_count", "one number"}},
          .attrs = ir::Attrs::schema_of<BatchNormUpdateAttrs>(),
      },
      .infer = infer_cumulative,
      .rewrite{
          .specialize = [](const ir::RewriteContext& c, ir::Phase phase) -> std::vector<Value> {
            if (phase == ir::Phase::training) return {};
            return {c.input(0), c.input(1), c.input(2)};
          }},
      .kernels{
          .params = update_params,
          .ref = ir::kernel_fn<&f32::batch_norm_cumulative_update_ref>(),
          .ref64 = ir::kernel_fn<&f64::batch_norm_cumulative_update_ref>(),
      },
      .memory{.updates = {{0, 0}, {1, 1}, {2, 2}}},
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::statistics; }},
  };
  return def;
}

// Adds the op, and what moves the running statistics where they are kept. Returns y.
Value normalised(const ir::LayerScope& layer, const Value (&inputs)[5],
                 const BatchNormOptions& options) {
  ir::Graph& graph = inputs[0].graph();
  const BatchNormAttrs attrs{.momentum = options.momentum, .epsilon = options.epsilon};
  const std::vector<Value> out = graph.add(batch_norm_op(), ir::Attrs::of(attrs), inputs);
  if (!is_kept(inputs[3]) || !is_kept(inputs[4])) return out[0];
  const ir::Attrs update =
      ir::Attrs::of(BatchNormUpdateAttrs{.momentum = options.momentum,
                                         .values = values_per_channel(inputs[0].shape()),
                                         .biased = options.biased_running_variance});
  if (options.cumulative) {
    const Value count = graph.source(layer.name() + ".num_batches_tracked", {DType::f32, {}},
                                     ir::Role::state, init::zeros());
    const Value statistics[] = {inputs[3], inputs[4], count, out[1], out[2]};
    graph.add(batch_norm_cumulative_update_op(), update, statistics);
  } else {
    const Value statistics[] = {inputs[3], inputs[4], out[1], out[2]};
    graph.add(batch_norm_update_op(), update, statistics);
  }
  return out[0];
}

void check_images(const Value& x) {
  if (x.shape().rank() < 2 || x.shape()[-1] < 1) {
    throw Error("batch_norm", fmt::format("expected x [N, ..., C], got {}", to_string(x.shape())));
  }
}

}  // namespace
}  // namespace thimble::ops::batch_norm_impl

THIMBLE_OP_FOLDER(batch_norm) {
  static const OpDef* const defs[] = {&batch_norm_op(), &batch_norm_update_op(),
                                      &batch_norm_cumulative_update_op()};
  return defs;
}

namespace thimble {

void describe(BatchNormOptions& o, ir::OptionVisitor& v) {
  v.field("momentum", o.momentum, "weight of a new batch in the running statistics, as in PyTorch");
  v.field("epsilon", o.epsilon, "added to the variance");
  v.field("affine", o.affine, "with a trained scale and shift");
  v.field("track_running_stats", o.track_running_stats,
          "false: inference, too, uses the statistics of its batch");
  v.field("cumulative", o.cumulative,
          "running statistics are the means over all batches so far, as PyTorch's momentum=None");
  v.field("biased_running_variance", o.biased_running_variance,
          "the running variance is moved by the biased variance of a batch, as in Keras");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(BatchNormAttrs& a, ir::FieldVisitor& v) {
  v.field("momentum", a.momentum, "weight of a new batch in the running statistics");
  v.field("epsilon", a.epsilon, "added to the variance");
  v.field("activation", a.activation, "applied to the result");
}

Value batch_norm(Value x, const BatchNormOptions& options) {
  ops::batch_norm_impl::check_images(x);
  const ir::LayerScope layer(x.graph(), "batch_norm", options.name);
  const Shape channels{x.shape()[-1]};
  Value inputs[5] = {x};
  if (options.affine) {
    inputs[1] = ops::layer_parameter(layer, x, "weight", channels, init::ones());
    inputs[2] = ops::layer_parameter(layer, x, "bias", channels, init::zeros());
  }
  const auto state = [&](const char* name, const Initializer& init) {
    return x.graph().source(layer.name() + "." + name, {DType::f32, channels}, ir::Role::state,
                            init);
  };
  if (options.track_running_stats) {
    inputs[3] = state("running_mean", init::zeros());
    inputs[4] = state("running_var", init::ones());
  } else if (options.cumulative) {
    throw Error("batch_norm", "cumulative needs running statistics: leave track_running_stats on");
  }
  return ops::batch_norm_impl::normalised(layer, inputs, options);
}

Value batch_norm(Value x, Value gamma, Value beta, Value running_mean, Value running_var,
                 const BatchNormOptions& options) {
  ops::batch_norm_impl::check_images(x);
  if (options.cumulative) {
    throw Error("batch_norm",
                "cumulative statistics are a layer's own, which counts its batches; give none");
  }
  const ir::LayerScope layer(x.graph(), "batch_norm", options.name);
  const Value inputs[] = {x, gamma, beta, ops::latest(running_mean), ops::latest(running_var)};
  return ops::batch_norm_impl::normalised(layer, inputs, options);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(batch_norm) {
  static const FunctionDef batch_norm_function{
      .name = "batch_norm",
      .doc = "A batch normalisation layer over the last dimension, the channels.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[C]", true},
                     {"bias", "[C]", true},
                     {.name = "running_mean", .doc = "[C], state", .optional = true, .state = true},
                     {.name = "running_var", .doc = "[C], state", .optional = true, .state = true},
                     {.name = "num_batches_tracked",
                      .doc = "one number, state where cumulative",
                      .optional = true,
                      .state = true}},
      .options = ir::OptionSchema::of<BatchNormOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {batch_norm(in[0], options_as<BatchNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&batch_norm_function};
  return defs;
}
