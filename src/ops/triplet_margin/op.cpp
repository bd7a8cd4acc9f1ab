#include <thimble/ops/triplet_margin.h>

#include "ops/families/conv/row_tasks.h"
#include "ops/families/loss/loss.h"
#include "ops/triplet_margin/dims.h"

#define THIMBLE_OP triplet_margin
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::triplet_margin_impl {
namespace {

// workspace: one float per row.
void fast(float* y, const float* a, const float* p, const float* n, void* workspace,
          const triplet_margin_dims* d, parallel::ThreadPool& pool) {
  auto* const losses = d->divisor == LOSS_TERMS ? y : static_cast<float*>(workspace);
  for_each_row(pool, d->rows, int64_t{4} * d->size, [&](int64_t row) {
    const int64_t at = row * d->size;
    losses[row] = f32::triplet_row(a + at, p + at, n + at, d);
  });
  if (d->divisor == LOSS_TERMS) return;
  double total = 0.0;
  for (int row = 0; row < d->rows; ++row) total += static_cast<double>(losses[row]);
  *y = static_cast<float>(total / d->divisor);
}

void grad_fast(float* da, float* dp, float* dn, const float* dy, const float* a, const float* p,
               const float* n, const triplet_margin_dims* d, parallel::ThreadPool& pool) {
  for_each_row(pool, d->rows, int64_t{8} * d->size, [&](int64_t row) {
    const int64_t at = row * d->size;
    f32::triplet_margin_grad_row(da + at, dp + at, dn + at,
                                 f32::triplet_margin_scale(dy, static_cast<int>(row), d), a + at,
                                 p + at, n + at, d);
  });
}

void check(const ir::InferContext& c, int first) {
  const auto& options = c.attrs.as<TripletMarginOptions>();
  const Shape& shape = c.shape(first);
  for (int i = first; i < first + 3; ++i) {
    c.require(c.shape(i) == shape, "expected anchor, positive and negative of one shape");
  }
  c.require(shape.rank() >= 1, "expected rows [N, ..., D]");
  c.require(options.p >= 1.0 && options.p < 1e6, "expected p of at least 1 (and below 1e6)");
}

ir::Params params_of(const ir::KernelContext& c, const Shape& x) {
  const auto& options = c.attrs.as<TripletMarginOptions>();
  triplet_margin_dims d{};
  d.rows = 1;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) d.rows *= static_cast<int>(x[axis]);
  d.size = static_cast<int>(x[-1]);
  const bool alone = x.rank() == 1 && options.reduction == Reduction::batch_mean;
  d.divisor = alone ? 1 : loss_divisor(options.reduction, x, d.rows);
  d.swap = options.swap ? 1 : 0;
  d.margin = options.margin;
  d.p = options.p;
  d.epsilon = options.epsilon;
  return d;
}

const OpDef& triplet_margin_grad_op() {
  static const OpDef def{
      .name = "triplet_margin_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of triplet_margin by anchor, positive and negative.",
          .inputs = {{"dy", "the shape of the loss"},
                     {"anchor", "[N, ..., D]"},
                     {"positive", "[N, ..., D]"},
                     {"negative", "[N, ..., D]"}},
          .outputs = {{"danchor", "[N, ..., D]"},
                      {"dpositive", "[N, ..., D]"},
                      {"dnegative", "[N, ..., D]"}},
          .attrs = ir::Attrs::schema_of<TripletMarginOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 1);
        require_loss_grad(c, c.attrs.as<TripletMarginOptions>().reduction, rows_of(c.shape(1)));
        return {c.input(1), c.input(1), c.input(1)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(1)); },
          .ref = ir::kernel_fn<&f32::triplet_margin_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::triplet_margin_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
  };
  return def;
}

const OpDef& triplet_margin_op() {
  static const OpDef def{
      .name = "triplet_margin",
      .signature{
          .doc = "Triplet loss: reduce over rows of max(0, d(anchor, positive) - d(anchor, "
                 "negative) + margin) with d(a, b) = ||a - b + epsilon||_p.",
          .example = "auto loss = triplet_margin(anchor, positive, negative);",
          .inputs = {{"anchor", "[N, ..., D]"},
                     {"positive", "[N, ..., D]"},
                     {"negative", "[N, ..., D]"}},
          .outputs = {{"loss", "one number, or one a row"}},
          .attrs = ir::Attrs::schema_of<TripletMarginOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 0);
        return {{DType::f32,
                 loss_shape(c.attrs.as<TripletMarginOptions>().reduction, rows_of(c.shape(0)))}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const Value inputs[] = {c.grad(), c.input(0), c.input(1), c.input(2)};
        return c.grad().graph().add(triplet_margin_grad_op(), c.attrs, inputs);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); },
          .workspace = [](const ir::Params& p,
                          int) { return int64_t{4} * p.as<triplet_margin_dims>().rows; },
          .ref = ir::kernel_fn<&f32::triplet_margin_ref>(),
          .ref64 = ir::kernel_fn<&f64::triplet_margin_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .stay_f32 = {0},
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  if (c.in(0).rank() < 2) return ir::Samples::mixed;
                  return samples_of(c.attrs.as<TripletMarginOptions>().reduction);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::triplet_margin_impl

THIMBLE_OP_FOLDER(triplet_margin) {
  static const OpDef* const defs[] = {&triplet_margin_op(), &triplet_margin_grad_op()};
  return defs;
}

namespace thimble {

void describe(TripletMarginOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the rows become one number");
  v.field("margin", a.margin, "by which negatives must be farther away");
  v.field("p", a.p, "of the norm, at least 1");
  v.field("epsilon", a.epsilon, "added to differences");
  v.field("swap", a.swap, "the negative's distance to the nearer of anchor and positive");
}
Value triplet_margin(Value anchor, Value positive, Value negative,
                     const TripletMarginOptions& options) {
  return anchor.graph().add1(ops::triplet_margin_impl::triplet_margin_op(), ir::Attrs::of(options),
                             {anchor, positive, negative});
}
}  // namespace thimble
