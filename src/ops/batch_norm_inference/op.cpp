#include <thimble/ops/affine.h>
#include <thimble/ops/batch_norm_inference.h>
#include <thimble/ops/conv2d.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/neg.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/rsqrt.h>
#include <thimble/ops/square.h>
#include <thimble/ops/sub.h>
#include <thimble/ops/sum_to.h>

#include <cmath>

#include "ir/graph.h"
#include "ops/families/norm/batch_norm.h"
#include "ops/families/norm/batch_norm_kernels.h"
#include "ops/families/unary/activation_grad.h"

#define THIMBLE_OP batch_norm_inference
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::batch_norm_inference_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  check_channels_last(c, 0);
  check_channel_values(c, 1, 4);
  return {c.input(0)};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<BatchNormInferenceAttrs>();
  batch_norm_dims d = batch_norm_sizes(c.in(0), attrs.epsilon);
  d.activation = kernel_activation_of(attrs.activation);
  return d;
}

// With given statistics every value is scaled and shifted on its own.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<BatchNormInferenceAttrs>();
  const Value x = c.input(0);
  const Value gamma = c.input(1);
  const Value mean = c.input(3);
  const Shape& channels = mean.shape();
  const Value dy = activation_grad(attrs.activation, c.grad(), c.output());
  const Value rstd = rsqrt(affine(c.input(4), {.shift = attrs.epsilon}));
  std::vector<Value> grads(5);
  if (c.need(1)) grads[1] = mul(sum_to(mul(dy, sub(x, mean)), channels), rstd);
  if (c.need(2)) grads[2] = sum_to(dy, channels);
  if (!c.need(0) && !c.need(3) && !c.need(4)) return grads;
  const Value dx = mul(dy, gamma ? mul(gamma, rstd) : rstd);
  grads[0] = dx;
  if (c.need(3)) grads[3] = neg(sum_to(dx, channels));
  if (c.need(4)) {
    const Value pull = mul(sum_to(mul(dx, sub(x, mean)), channels), square(rstd));
    grads[4] = affine(pull, {.scale = -0.5});
  }
  return grads;
}

// gamma / sqrt(variance + epsilon) and what then remains of mean and beta.
std::optional<ir::ChannelScaling> scaling(const ir::Attrs& node,
                                          std::span<const Array* const> inputs) {
  const auto& attrs = node.as<BatchNormInferenceAttrs>();
  if (inputs[3] == nullptr || inputs[4] == nullptr) return std::nullopt;
  const auto numbers = [&](size_t i, size_t count, float otherwise) {
    return inputs[i] != nullptr ? inputs[i]->floats() : std::vector<float>(count, otherwise);
  };
  const std::vector<float> mean = inputs[3]->floats();
  const std::vector<float> variance = inputs[4]->floats();
  const std::vector<float> gamma = numbers(1, mean.size(), 1.0F);
  const std::vector<float> beta = numbers(2, mean.size(), 0.0F);
  ir::ChannelScaling made{.activation = attrs.activation};
  for (size_t k = 0; k < mean.size(); ++k) {
    const double scale =
        static_cast<double>(gamma[k]) / std::sqrt(static_cast<double>(variance[k]) + attrs.epsilon);
    made.scale.push_back(scale);
    made.shift.push_back(static_cast<double>(beta[k]) - static_cast<double>(mean[k]) * scale);
  }
  return made;
}

// A depthwise convolution of one pixel.
Value scaling_layer(Value x, Value weight, Value bias, Activation activation) {
  const Shape& shape = x.shape();
  const int last = shape.rank() - 1;
  const Conv2dAttrs attrs{.groups = shape[last], .activation = activation};
  if (last == 3) return conv2d(x, weight, bias, attrs);
  std::vector<int64_t> dims = shape.dims();
  int64_t pixels = 1;
  for (int axis = 1; axis < last; ++axis) pixels *= shape[axis];
  dims[0] = -1;
  const Value image = reshape(x, {-1, pixels, 1, shape[last]});
  return reshape(conv2d(image, weight, bias, attrs), Shape(dims));
}

const OpDef& definition() {
  static const OpDef def{
      .name = "batch_norm_inference",
      .signature{
          .doc = "Batch normalisation with given statistics: y = act((x - mean) / sqrt(variance + "
                 "epsilon) * gamma + beta), channel by channel.",
          .example = "auto y = batch_norm_inference(x, gamma, beta, mean, variance);",
          .inputs = {{"x", "[N, ..., C]"},
                     {"gamma", "[C]", true},
                     {"beta", "[C]", true},
                     {"mean", "[C]"},
                     {"variance", "[C]"}},
          .outputs = {{"y", "[N, ..., C]"}},
          .attrs = ir::Attrs::schema_of<BatchNormInferenceAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{.fuse_activation = fuse_activation<BatchNormInferenceAttrs>},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int) {
                return batch_norm_inference_workspace_bytes(p.as<batch_norm_dims>());
              },
          .ref = ir::kernel_fn<&f32::batch_norm_inference_ref>(),
          .ref64 = ir::kernel_fn<&f64::batch_norm_inference_ref>(),
          .fast = ir::kernel_fn<&batch_norm_inference_simd>(),
          .fast_16bit = batch_norm_inference_16bit,
          .inputs_16bit = {0},
          .workspace_16bit =
              [](const ir::Params& p, int) {
                return batch_norm_inference_16bit_workspace_bytes(p.as<batch_norm_dims>());
              },
      },
      .memory{.in_place = {{0, 0}}},
      .quantized{.scaling = scaling, .scaling_layer = scaling_layer},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::batch_norm_inference_impl

namespace thimble::ops {

const OpDef& batch_norm_inference_op() { return batch_norm_inference_impl::definition(); }

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(batch_norm_inference) {
  static const OpDef* const defs[] = {&batch_norm_inference_op()};
  return defs;
}

namespace thimble {

void describe(BatchNormInferenceAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
  v.field("activation", a.activation, "applied to the result");
}

Value batch_norm_inference(Value x, Value gamma, Value beta, Value mean, Value variance,
                           const BatchNormInferenceAttrs& attrs) {
  return x.graph().add1(ops::batch_norm_inference_op(), ir::Attrs::of(attrs),
                        {x, gamma, beta, mean, variance});
}

}  // namespace thimble
