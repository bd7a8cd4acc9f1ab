#include <thimble/ops/cosine_embedding.h>

#include "ops/cosine_embedding/dims.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/loss/loss.h"

#define THIMBLE_OP cosine_embedding
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::cosine_embedding_impl {
namespace {

// workspace: one float per row.
void fast(float* y, const float* a, const float* b, const void* target, void* workspace,
          const cosine_embedding_dims* d, parallel::ThreadPool& pool) {
  auto* const losses = d->divisor == LOSS_TERMS ? y : static_cast<float*>(workspace);
  for_each_row(pool, d->rows, int64_t{4} * d->size, [&](int64_t row) {
    const int64_t at = row * d->size;
    const int like = f32::cosine_target(target, static_cast<int>(row), d);
    losses[row] = f32::cosine_row(a + at, b + at, like, d);
  });
  if (d->divisor == LOSS_TERMS) return;
  double total = 0.0;
  for (int row = 0; row < d->rows; ++row) total += static_cast<double>(losses[row]);
  *y = static_cast<float>(total / d->divisor);
}

void grad_fast(float* da, float* db, const float* dy, const float* a, const float* b,
               const void* target, const cosine_embedding_dims* d, parallel::ThreadPool& pool) {
  for_each_row(pool, d->rows, int64_t{6} * d->size, [&](int64_t row) {
    const int64_t at = row * d->size;
    const int like = f32::cosine_target(target, static_cast<int>(row), d);
    f32::cosine_embedding_grad_row(da + at, db + at,
                                   f32::cosine_embedding_scale(dy, static_cast<int>(row), d),
                                   a + at, b + at, like, d);
  });
}

void check(const ir::InferContext& c, int first) {
  c.require(c.input(first) == c.input(first + 1), "expected a and b of one type and shape");
  c.require(c.shape(first).rank() >= 1, "expected rows [N, ..., D]");
  const Shape rows = rows_of(c.shape(first));
  const ir::TensorType& target = c.input(first + 2);
  c.require(target.shape == rows, "expected one target a row: shape " + to_string(rows));
}

ir::Params params_of(const ir::KernelContext& c, int first) {
  const auto& options = c.attrs.as<CosineEmbeddingOptions>();
  const Shape& x = c.in(first);
  cosine_embedding_dims d{};
  d.rows = static_cast<int>(c.in(first + 2).elements());
  d.size = static_cast<int>(x[-1]);
  const bool alone = x.rank() == 1 && options.reduction == Reduction::batch_mean;
  d.divisor = alone ? 1 : loss_divisor(options.reduction, x, d.rows);
  d.real_target = c.inputs[static_cast<size_t>(first) + 2]->dtype == DType::f32 ? 1 : 0;
  d.margin = options.margin;
  return d;
}

const OpDef& cosine_embedding_grad_op() {
  static const OpDef def{
      .name = "cosine_embedding_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of cosine_embedding by a and b.",
          .inputs = {{"dy", "the shape of the loss"},
                     {"a", "[N, ..., D]"},
                     {"b", "[N, ..., D]"},
                     {.name = "target",
                      .doc = "[N, ...] of i32 or f32",
                      .types = ir::kFloatingTypes | DType::i32}},
          .outputs = {{"da", "[N, ..., D]"}, {"db", "[N, ..., D]"}},
          .attrs = ir::Attrs::schema_of<CosineEmbeddingOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 1);
        require_loss_grad(c, c.attrs.as<CosineEmbeddingOptions>().reduction, rows_of(c.shape(1)));
        return {c.input(1), c.input(2)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, 1); },
          .ref = ir::kernel_fn<&f32::cosine_embedding_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::cosine_embedding_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
      .memory{.in_place = {{0, 1}, {1, 2}}},
  };
  return def;
}

const OpDef& cosine_embedding_op() {
  static const OpDef def{
      .name = "cosine_embedding",
      .signature{
          .doc = "Cosine embedding loss: reduce over rows of 1 - cos(a, b) where the target is 1, "
                 "and of max(0, cos(a, b) - margin) where it is -1.",
          .example = "auto loss = cosine_embedding(a, b, g.label(\"alike\"), {.margin = 0.5});",
          .inputs = {{"a", "[N, ..., D]"},
                     {"b", "[N, ..., D]"},
                     {.name = "target",
                      .doc = "[N, ...] of i32 or f32: 1 or -1",
                      .types = ir::kFloatingTypes | DType::i32}},
          .outputs = {{"loss", "one number, or one a row"}},
          .attrs = ir::Attrs::schema_of<CosineEmbeddingOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 0);
        return {{DType::f32,
                 loss_shape(c.attrs.as<CosineEmbeddingOptions>().reduction, rows_of(c.shape(0)))}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        refuse_gradient(c, 2, cosine_embedding_op());
        const Value inputs[] = {c.grad(), c.input(0), c.input(1), c.input(2)};
        return c.grad().graph().add(cosine_embedding_grad_op(), c.attrs, inputs);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, 0); },
          .workspace = [](const ir::Params& p,
                          int) { return int64_t{4} * p.as<cosine_embedding_dims>().rows; },
          .ref = ir::kernel_fn<&f32::cosine_embedding_ref>(),
          .ref64 = ir::kernel_fn<&f64::cosine_embedding_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .stay_f32 = {0},
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  if (c.in(0).rank() < 2) return ir::Samples::mixed;
                  return samples_of(c.attrs.as<CosineEmbeddingOptions>().reduction);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::cosine_embedding_impl

THIMBLE_OP_FOLDER(cosine_embedding) {
  static const OpDef* const defs[] = {&cosine_embedding_op(), &cosine_embedding_grad_op()};
  return defs;
}

namespace thimble {

void describe(CosineEmbeddingOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the rows become one number");
  v.field("margin", a.margin, "below which unlike pairs count nothing");
}
Value cosine_embedding(Value a, Value b, Value target, const CosineEmbeddingOptions& options) {
  return a.graph().add1(ops::cosine_embedding_impl::cosine_embedding_op(), ir::Attrs::of(options),
                        {a, b, target});
}
}  // namespace thimble
