#include <fmt/format.h>
#include <thimble/ops/embedding.h>

#include <algorithm>

#include "ops/common/layer.h"
#include "ops/common/row_tasks.h"
#include "ops/embedding/attrs.h"
#include "ops/embedding/dims.h"

#define THIMBLE_REF "ops/embedding/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

void fast(float* y, const int32_t* indices, const float* weight, const embedding_dims* d,
          exec::ThreadPool& pool) {
  for_each_row(pool, d->count, d->width,
               [&](int64_t i) { f32::embedding_row(y, indices, weight, static_cast<int>(i), d); });
}

// Rows of the weight are shared out, so that no two tasks add to one element. Every task looks at
// all the indices: it has rows enough to make up for that.
void grad_fast(float* dw, const float* dy, const int32_t* indices, const embedding_dims* d,
               exec::ThreadPool& pool) {
  const int64_t values = std::max<int64_t>(int64_t{1} << 16, int64_t{8} * d->count);
  const int64_t rows = std::max<int64_t>(1, values / std::max(1, d->width));
  pool.run(simd::divide_up(d->rows, rows), [&](int64_t task) {
    const int64_t end = std::min<int64_t>(d->rows, (task + 1) * rows);
    f32::embedding_grad_rows(dw, dy, indices, static_cast<int>(task * rows), static_cast<int>(end),
                             d);
  });
}

embedding_dims sizes(const Shape& weight, const Shape& indices, int64_t padding) {
  return {.count = static_cast<int>(indices.elements()),
          .rows = static_cast<int>(weight[0]),
          .width = static_cast<int>(weight[1]),
          .padding = static_cast<int>(padding)};
}

Shape with_row(const Shape& indices, int64_t width) {
  std::vector<int64_t> dims = indices.dims();
  dims.push_back(width);
  return Shape(std::move(dims));
}

void check_padding(const ir::InferContext& c, int64_t padding, int64_t rows) {
  c.require(padding >= -1 && padding < rows,
            "expected a padding_idx that is a row of the weight, or -1 for none");
}

const OpDef& embedding_grad_op() {
  static const OpDef def{
      .name = "embedding_grad",
      .doc = "The gradient of an embedding's weight: the sums of the rows of dy of each index.",
      .inputs = {{"dy", "[the shape of indices, D]"}, {"indices", "any shape, i32"}},
      .outputs = {{"dweight", "[V, D]"}},
      .attrs = ir::Attrs::schema_of<EmbeddingGradAttrs>(),
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<EmbeddingGradAttrs>();
        c.require_dtype(0, DType::f32);
        c.require_dtype(1, DType::i32);
        c.require(c.shape(0).rank() >= 1 && c.shape(0) == with_row(c.shape(1), c.shape(0)[-1]),
                  "expected dy of the shape of indices and one more dimension");
        c.require(attrs.embeddings >= 0, "expected a number of rows of at least 0");
        check_padding(c, attrs.padding_idx, attrs.embeddings);
        return {{DType::f32, {attrs.embeddings, c.shape(0)[-1]}}};
      },
      .params = [](const ir::KernelContext& c) -> ir::Params {
        return sizes(c.out(), c.in(1), c.attrs.as<EmbeddingGradAttrs>().padding_idx);
      },
      .ref = ir::kernel_fn<&f32::embedding_grad_ref>(),
      .ref64 = ir::kernel_fn<&f64::embedding_grad_ref>(),
      .fast = ir::kernel_fn<&grad_fast>(),
  };
  return def;
}

const OpDef& embedding_op() {
  static const OpDef def{
      .name = "embedding",
      .doc =
          "Rows of a table by their indices: y[..., :] = weight[indices[...], :]; NaN where there "
          "is no such row.",
      .example = "auto y = embedding(tokens, {.embeddings = 256, .width = 64});",
      .inputs = {{"indices", "any shape, i32"}, {"weight", "[V, D]"}},
      .outputs = {{"y", "[the shape of indices, D]"}},
      .attrs = ir::Attrs::schema_of<EmbeddingAttrs>(),
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_dtype(0, DType::i32);
        c.require_dtype(1, DType::f32);
        c.require_rank(1, 2);
        check_padding(c, c.attrs.as<EmbeddingAttrs>().padding_idx, c.shape(1)[0]);
        return {{DType::f32, with_row(c.shape(0), c.shape(1)[1])}};
      },
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const EmbeddingGradAttrs attrs{c.input(1).shape()[0],
                                       c.attrs.as<EmbeddingAttrs>().padding_idx};
        return {Value(), c.grad().graph().add1(embedding_grad_op(), ir::Attrs::of(attrs),
                                               {c.grad(), c.input(0)})};
      },
      .params = [](const ir::KernelContext& c) -> ir::Params {
        return sizes(c.in(1), c.in(0), c.attrs.as<EmbeddingAttrs>().padding_idx);
      },
      .ref = ir::kernel_fn<&f32::embedding_ref>(),
      .ref64 = ir::kernel_fn<&f64::embedding_ref>(),
      .fast = ir::kernel_fn<&fast>(),
      // A row that is not trained here may be read elsewhere: then the gather has to stay.
      .gathers =
          [](const ir::Attrs& attrs) {
            return attrs.as<EmbeddingAttrs>().padding_idx < 0 ? 1 : -1;
          },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(embedding) {
  static const OpDef* const defs[] = {&embedding_op(), &embedding_grad_op()};
  return defs;
}

namespace thimble {

Value embedding(Value indices, Value weight, const EmbeddingAttrs& attrs) {
  return indices.graph().add1(ops::embedding_op(), ir::Attrs::of(attrs), {indices, weight});
}

Value embedding(Value indices, const EmbeddingOptions& options) {
  if (options.embeddings < 1 || options.width < 1) {
    throw Error("embedding", fmt::format("expected at least 1 row of at least 1 number, got {} of "
                                         "{}; set .embeddings and .width",
                                         options.embeddings, options.width));
  }
  const ir::LayerScope layer(indices.graph(), "embedding", options.name);
  const Value weight = ops::layer_parameter(
      layer, indices, "weight", {options.embeddings, options.width}, options.weight_init);
  return embedding(indices, weight, {.padding_idx = options.padding_idx});
}

}  // namespace thimble
