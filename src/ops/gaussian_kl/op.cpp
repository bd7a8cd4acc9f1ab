#include <thimble/ops/gaussian_kl.h>

#include "ops/families/loss/loss.h"
#include "ops/families/loss/loss_dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP gaussian_kl
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::gaussian_kl_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. workspace: loss_workspace() bytes.
void gaussian_kl_simd(float* y, const float* mean, const float* logvar, void* workspace,
                      const loss_dims* d, parallel::ThreadPool& pool);

// dmean may alias mean, dlogvar logvar.
void gaussian_kl_grad_simd(float* dmean, float* dlogvar, const float* dy, const float* mean,
                           const float* logvar, const loss_dims* d, parallel::ThreadPool& pool);

namespace {

void require_pair(const ir::InferContext& c, int first) {
  c.require(c.shape(first) == c.shape(first + 1), "expected mean and logvar of one shape");
}

ir::Params params_of(const ir::KernelContext& c, const Shape& x) {
  const Reduction reduction = c.attrs.as<GaussianKlOptions>().reduction;
  return loss_dims{static_cast<int>(x.elements()), loss_divisor(reduction, x, x.elements()), 0.0};
}

const OpDef& gaussian_kl_grad_op() {
  static const OpDef def{
      .name = "gaussian_kl_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of gaussian_kl: dy / divisor times mean and (exp(logvar) - 1) / 2.",
          .inputs = {{"dy", "the shape of the loss"}, {"mean", "[N, ...]"}, {"logvar", "[N, ...]"}},
          .outputs = {{"dmean", "[N, ...]"}, {"dlogvar", "[N, ...]"}},
          .attrs = ir::Attrs::schema_of<GaussianKlOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_pair(c, 1);
        require_loss_grad(c, c.attrs.as<GaussianKlOptions>().reduction, c.shape(1));
        return {c.input(1), c.input(2)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(1)); },
          .ref = ir::kernel_fn<&f32::gaussian_kl_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::gaussian_kl_grad_ref>(),
          .fast = ir::kernel_fn<&gaussian_kl_grad_simd>(),
      },
      .memory{.in_place = {{0, 1}, {1, 2}}},
  };
  return def;
}

const OpDef& gaussian_kl_op() {
  static const OpDef def{
      .name = "gaussian_kl",
      .signature{
          .doc = "Kullback-Leibler divergence of normal distributions from the standard one: -1/2 "
                 "reduce of (1 + logvar - mean^2 - exp(logvar)); by default summed over each "
                 "sample and averaged over the batch.",
          .example = "auto loss = gaussian_kl(mean, logvar);",
          .inputs = {{"mean", "[N, ...]"}, {"logvar", "[N, ...]: logarithms of the variances"}},
          .outputs = {{"loss", "one number, or the terms"}},
          .attrs = ir::Attrs::schema_of<GaussianKlOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_pair(c, 0);
        const Reduction reduction = c.attrs.as<GaussianKlOptions>().reduction;
        require_reducible(c, reduction, c.shape(0));
        return {{DType::f32, loss_shape(reduction, c.shape(0))}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const Value inputs[] = {c.grad(), c.input(0), c.input(1)};
        return c.grad().graph().add(gaussian_kl_grad_op(), c.attrs, inputs);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .workspace = loss_workspace,
          .ref = ir::kernel_fn<&f32::gaussian_kl_ref>(),
          .ref64 = ir::kernel_fn<&f64::gaussian_kl_ref>(),
          .fast = ir::kernel_fn<&gaussian_kl_simd>(),
          .stay_f32 = {0},
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_of(c.attrs.as<GaussianKlOptions>().reduction);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::gaussian_kl_impl

THIMBLE_OP_FOLDER(gaussian_kl) {
  static const OpDef* const defs[] = {&gaussian_kl_op(), &gaussian_kl_grad_op()};
  return defs;
}

namespace thimble {

void describe(GaussianKlOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the terms become one number");
}
Value gaussian_kl(Value mean, Value logvar, const GaussianKlOptions& options) {
  return mean.graph().add1(ops::gaussian_kl_impl::gaussian_kl_op(), ir::Attrs::of(options),
                           {mean, logvar});
}
}  // namespace thimble
