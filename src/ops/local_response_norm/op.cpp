#include <thimble/ops/local_response_norm.h>

#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/local_response_norm/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP local_response_norm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::local_response_norm_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. params hold local_response_norm_dims.
int64_t local_response_norm_workspace(const ir::Params& params, int threads);

void local_response_norm_simd(float* y, const float* x, void* workspace,
                              const local_response_norm_dims* d, parallel::ThreadPool& pool);
void local_response_norm_grad_simd(float* dx, const float* dy, const float* x, void* workspace,
                                   const local_response_norm_dims* d, parallel::ThreadPool& pool);

namespace {

void check(const ir::InferContext& c) {
  c.require(c.shape(0).rank() >= 2 && c.shape(0)[-1] >= 1,
            "expected x [N, ..., C] with the channels last");
  const int64_t size = c.attrs.as<LocalResponseNormOptions>().size;
  c.require(size >= 1 && size <= 4096, "expected a size of 1 to 4096 channels");
}

ir::Params params(const ir::KernelContext& c) {
  const auto& o = c.attrs.as<LocalResponseNormOptions>();
  local_response_norm_dims d{};
  d.channels = static_cast<int>(c.in(0)[-1]);
  d.rows = static_cast<int>(c.in(0).elements() / d.channels);
  d.before = static_cast<int>(o.size / 2);
  d.after = static_cast<int>((o.size - 1) / 2);
  d.scale = o.alpha / static_cast<double>(o.size);
  d.beta = o.beta;
  d.k = o.k;
  return d;
}

const OpDef& local_response_norm_grad_op() {
  static const OpDef def{
      .name = "local_response_norm_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of local_response_norm: dx[c] = dy[c] / s[c]^beta - 2 alpha beta / "
                 "size * x[c] * sum of dy[j] x[j] / s[j]^(beta + 1) over the channels j whose "
                 "window holds c.",
          .inputs = {{"dy", "[N, ..., C]"}, {"x", "[N, ..., C]"}},
          .outputs = {{"dx", "[N, ..., C]"}},
          .attrs = ir::Attrs::schema_of<LocalResponseNormOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c);
        c.require(c.input(0) == c.input(1), "expected dy of the type of x");
        return {c.input(0)};
      },
      .kernels{
          .params = params,
          .workspace = local_response_norm_workspace,
          .ref = ir::kernel_fn<&f32::local_response_norm_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::local_response_norm_grad_ref>(),
          .fast = ir::kernel_fn<&local_response_norm_grad_simd>(),
      },
  };
  return def;
}

const OpDef& local_response_norm_op() {
  static const OpDef def{
      .name = "local_response_norm",
      .signature{
          .doc = "Local response normalisation across channels: y[c] = x[c] / (k + alpha / size * "
                 "sum of x[j]^2)^beta over the size channels j from c - size / 2 on.",
          .example = "auto y = local_response_norm(x, {.size = 5});",
          .inputs = {{"x", "[N, ..., C]"}},
          .outputs = {{"y", "[N, ..., C]"}},
          .attrs = ir::Attrs::schema_of<LocalResponseNormOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c);
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {
            c.grad().graph().add1(local_response_norm_grad_op(), c.attrs, {c.grad(), c.input(0)})};
      }},
      .kernels{
          .params = params,
          .workspace = local_response_norm_workspace,
          .ref = ir::kernel_fn<&f32::local_response_norm_ref>(),
          .ref64 = ir::kernel_fn<&f64::local_response_norm_ref>(),
          .fast = ir::kernel_fn<&local_response_norm_simd>(),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::local_response_norm_impl

THIMBLE_OP_FOLDER(local_response_norm) {
  static const OpDef* const defs[] = {&local_response_norm_op(), &local_response_norm_grad_op()};
  return defs;
}

namespace thimble {

void describe(LocalResponseNormOptions& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "neighbouring channels");
  v.field("alpha", a.alpha, "weight of their mean square");
  v.field("beta", a.beta, "exponent");
  v.field("k", a.k, "added to the mean square");
}
Value local_response_norm(Value x, const LocalResponseNormOptions& options) {
  return x.graph().add1(ops::local_response_norm_impl::local_response_norm_op(),
                        ir::Attrs::of(options), {x});
}
}  // namespace thimble
