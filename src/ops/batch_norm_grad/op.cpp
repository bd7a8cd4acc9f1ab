#include <thimble/ops/batch_norm_grad.h>

#include "ir/graph.h"
#include "ops/families/norm/batch_norm.h"
#include "ops/families/norm/batch_norm_kernels.h"

#define THIMBLE_OP batch_norm_grad
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::batch_norm_grad_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  check_channels_last(c, 0);
  check_channels_last(c, 1);
  c.require(c.shape(0) == c.shape(1), "expected dy of the shape of x");
  check_channel_values(c, 2, 4);
  c.require(values_per_channel(c.shape(0)) != 1, kOneValue);
  const ir::TensorType channel_values{DType::f32, {c.shape(0)[-1]}};
  return {c.input(0), channel_values, channel_values};
}

const OpDef& batch_norm_grad_op() {
  static const OpDef def{
      .name = "batch_norm_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of batch_norm through its statistics. With xhat = (x - mean) / "
                 "sqrt(variance + epsilon) and n values a channel: dbeta = sum of dy, dgamma = sum "
                 "of dy * xhat, dx = gamma / sqrt(variance + epsilon) * (dy - (dbeta + xhat * "
                 "dgamma) / n).",
          .inputs = {{"dy", "[N, ..., C]"},
                     {"x", "[N, ..., C]"},
                     {"mean", "[C], of x"},
                     {"variance", "[C], of x, biased"},
                     {"gamma", "[C]", true}},
          .outputs = {{"dx", "[N, ..., C]"}, {"dgamma", "[C]"}, {"dbeta", "[C]"}},
          .attrs = ir::Attrs::schema_of<BatchNormGradAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return batch_norm_sizes(c.in(0), c.attrs.as<BatchNormGradAttrs>().epsilon);
          },
          .workspace =
              [](const ir::Params& p, int threads) {
                return batch_norm_grad_workspace_bytes(p.as<batch_norm_dims>(), threads);
              },
          .ref = ir::kernel_fn<&f32::batch_norm_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::batch_norm_grad_ref>(),
          .fast = ir::kernel_fn<&batch_norm_grad_simd>(),
          .stay_f32 = {1, 2},
          .fast_16bit = batch_norm_grad_16bit,
          .inputs_16bit = {0, 1},
          .workspace_16bit =
              [](const ir::Params& p, int threads) {
                return batch_norm_grad_16bit_workspace_bytes(p.as<batch_norm_dims>(), threads);
              },
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::statistics; }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::batch_norm_grad_impl

THIMBLE_OP_FOLDER(batch_norm_grad) {
  static const OpDef* const defs[] = {&batch_norm_grad_op()};
  return defs;
}

namespace thimble {

void describe(BatchNormGradAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
}

BatchNormGrads batch_norm_grad(Value dy, Value x, Value mean, Value variance, Value gamma,
                               const BatchNormGradAttrs& attrs) {
  const Value inputs[] = {dy, x, mean, variance, gamma};
  const std::vector<Value> grads =
      dy.graph().add(ops::batch_norm_grad_impl::batch_norm_grad_op(), ir::Attrs::of(attrs), inputs);
  return {grads[0], grads[1], grads[2]};
}

}  // namespace thimble
