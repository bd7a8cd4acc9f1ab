#include <thimble/ops/accumulate_gradient.h>

#include "ir/graph.h"
#include "ops/accumulate_gradient/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP accumulate_gradient
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::accumulate_gradient_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void accumulate_gradient_simd(float* sum_out, const float* sum, const float* grad,
                              const accumulate_dims* d, parallel::ThreadPool& pool);
void mean_gradient_simd(float* mean, float* sum_out, const float* sum, const float* grad,
                        const float* total, const accumulate_dims* d, parallel::ThreadPool& pool);

namespace {

ir::Params params(const ir::KernelContext& c) {
  accumulate_dims d{};
  d.n = static_cast<int>(c.out().elements());
  d.weight = c.attrs.as<AccumulateGradientOptions>().weight;
  return d;
}

void require_sum_and_gradient(const ir::InferContext& c) {
  c.require(c.shape(0) == c.shape(1), "expected a gradient of the sum's shape");
}

const OpDef& accumulate_op() {
  static const OpDef def{
      .name = "accumulate_gradient",
      .signature{
          .doc =
              "Adds a micro-batch's gradient to the sum of them, in place: sum += weight * grad.",
          .example = "auto sum_now = accumulate_gradient(sum, grad, {.weight = 1.0});",
          .inputs = {{"sum", "any shape: a state"}, {"grad", "the shape of sum"}},
          .outputs = {{"sum", "the same memory, updated"}},
          .attrs = ir::Attrs::schema_of<AccumulateGradientOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_sum_and_gradient(c);
        return {c.input(0)};
      },
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::accumulate_gradient_ref>(),
          .ref64 = ir::kernel_fn<&f64::accumulate_gradient_ref>(),
          .fast = ir::kernel_fn<&accumulate_gradient_simd>(),
      },
      .memory{.updates = {{0, 0}}},
  };
  return def;
}

const OpDef& mean_op() {
  static const OpDef def{
      .name = "mean_gradient",
      .signature{
          .doc =
              "Ends an accumulation: mean = (sum + weight * grad) / total, and sum = 0 in place.",
          .example = "auto mean = mean_gradient(sum, grad, total, {.weight = 1.0});",
          .inputs = {{"sum", "any shape: a state"},
                     {"grad", "the shape of sum"},
                     {"total", "one number: the sum of the weights"}},
          .outputs = {{"mean", "the shape of sum"}, {"sum", "the same memory, now 0"}},
          .attrs = ir::Attrs::schema_of<AccumulateGradientOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_sum_and_gradient(c);
        c.require(c.shape(2).rank() == 0, "expected one number as the total");
        return {c.input(0), c.input(0)};
      },
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::mean_gradient_ref>(),
          .ref64 = ir::kernel_fn<&f64::mean_gradient_ref>(),
          .fast = ir::kernel_fn<&mean_gradient_simd>(),
      },
      .memory{
          .in_place = {{0, 1}},
          .updates = {{1, 0}},
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::accumulate_gradient_impl

THIMBLE_OP_FOLDER(accumulate_gradient) {
  static const OpDef* const defs[] = {&accumulate_op(), &mean_op()};
  return defs;
}

namespace thimble {

void describe(AccumulateGradientOptions& a, ir::FieldVisitor& v) {
  v.field("weight", a.weight, "of this gradient in the sum");
}

Value accumulate_gradient(Value sum, Value grad, const AccumulateGradientOptions& options) {
  return sum.graph().add1(ops::accumulate_gradient_impl::accumulate_op(), ir::Attrs::of(options),
                          {sum, grad});
}

Value mean_gradient(Value sum, Value grad, Value total, const AccumulateGradientOptions& options) {
  return sum.graph().add1(ops::accumulate_gradient_impl::mean_op(), ir::Attrs::of(options),
                          {sum, grad, total});
}

}  // namespace thimble
