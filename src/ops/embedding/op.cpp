#include <fmt/format.h>
#include <thimble/ops/coalesce_rows.h>
#include <thimble/ops/embedding.h>

#include <algorithm>
#include <cmath>

#include "ir/function_def.h"
#include "ops/embedding/dims.h"
#include "ops/families/builder/layer.h"
#include "ops/families/conv/row_tasks.h"

#define THIMBLE_OP embedding
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::embedding_impl {
namespace {

struct EmbeddingRenormAttrs {
  double max_norm = 1.0;
  double norm_type = 2.0;
};

void describe(EmbeddingRenormAttrs& a, ir::FieldVisitor& v) {
  v.field("max_norm", a.max_norm, "longer rows are shortened to this norm");
  v.field("norm_type", a.norm_type, "the p of that norm, above 0");
}

struct EmbeddingGradAttrs {
  int64_t embeddings = 0;
  int64_t padding_idx = -1;
};

void describe(EmbeddingGradAttrs& a, ir::FieldVisitor& v) {
  v.field("embeddings", a.embeddings, "rows of the weight");
  v.field("padding_idx", a.padding_idx, "the row of this index gets no gradient; -1: none");
}

void fast(float* y, const int32_t* indices, const float* weight, const embedding_dims* d,
          parallel::ThreadPool& pool) {
  for_each_row(pool, d->count, d->width,
               [&](int64_t i) { f32::embedding_row(y, indices, weight, static_cast<int>(i), d); });
}

// Rows of the weight are divided among tasks, so that no two tasks add to the same element. Every
// task reads all indices and has enough rows to make that cheap.
void grad_fast(float* dw, const float* dy, const int32_t* indices, const embedding_dims* d,
               parallel::ThreadPool& pool) {
  const int64_t values = std::max<int64_t>(int64_t{1} << 16, int64_t{8} * d->count);
  const int64_t rows = std::max<int64_t>(1, values / std::max(1, d->width));
  pool.run(simd::divide_up(d->rows, rows), [&](int64_t task) {
    const int64_t end = std::min<int64_t>(d->rows, (task + 1) * rows);
    f32::embedding_grad_rows(dw, dy, indices, static_cast<int>(task * rows), static_cast<int>(end),
                             d);
  });
}

embedding_dims sizes(const Shape& weight, const Shape& indices, int64_t padding,
                     double max_norm = 0.0, double norm_type = 2.0) {
  return {.count = static_cast<int>(indices.elements()),
          .rows = static_cast<int>(weight[0]),
          .width = static_cast<int>(weight[1]),
          .padding = static_cast<int>(padding),
          .max_norm = max_norm,
          .norm_type = norm_type};
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
      .is_gradient = true,
      .signature{
          .doc = "The gradient of an embedding's weight: the sums of the rows of dy of each index.",
          .inputs = {{"dy", "[the shape of indices, D]"},
                     {.name = "indices", .doc = "any shape", .types = DType::i32}},
          .outputs = {{"dweight", "[V, D]"}},
          .attrs = ir::Attrs::schema_of<EmbeddingGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<EmbeddingGradAttrs>();
        c.require(c.shape(0).rank() >= 1 && c.shape(0) == with_row(c.shape(1), c.shape(0)[-1]),
                  "expected dy of the shape of indices and one more dimension");
        c.require(attrs.embeddings >= 0, "expected a number of rows of at least 0");
        check_padding(c, attrs.padding_idx, attrs.embeddings);
        return {{DType::f32, {attrs.embeddings, c.shape(0)[-1]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return sizes(c.out(), c.in(1), c.attrs.as<EmbeddingGradAttrs>().padding_idx);
          },
          .ref = ir::kernel_fn<&f32::embedding_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::embedding_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 1}, {}};
          },
      },
  };
  return def;
}

void check_norm(const ir::InferContext& c, double max_norm, double norm_type) {
  c.require(max_norm >= 0.0 && std::isfinite(max_norm), "expected a max_norm of at least 0");
  c.require(norm_type > 0.0 && std::isfinite(norm_type), "expected a norm_type above 0");
}

const OpDef& renorm_op() {
  static const OpDef def{
      .name = "embedding_renorm",
      .signature{
          .doc = "Shortens the rows of a table that have these indices to max_norm, in place.",
          .inputs = {{"weight", "[V, D]: a parameter"},
                     {.name = "indices", .doc = "any shape", .types = DType::i32}},
          .outputs = {{"weight", "the same memory, updated"}},
          .attrs = ir::Attrs::schema_of<EmbeddingRenormAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<EmbeddingRenormAttrs>();
        c.require_rank(0, 2);
        check_norm(c, attrs.max_norm, attrs.norm_type);
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<EmbeddingRenormAttrs>();
            return sizes(c.in(0), c.in(1), -1, attrs.max_norm, attrs.norm_type);
          },
          .ref = ir::kernel_fn<&f32::embedding_renorm_ref>(),
          .ref64 = ir::kernel_fn<&f64::embedding_renorm_ref>(),
      },
      .memory{.updates = {{0, 0}}},
  };
  return def;
}

// Makes the training step renormalize the rows of a parameter that it reads. The forward part
// scales the rows it reads but does not change the table, because nothing may change before the
// loss is known to be finite.
void append_renorm(Value weight, Value indices, const EmbeddingAttrs& attrs) {
  ir::Graph& graph = weight.graph();
  const ir::ValueData& data = graph.data(weight.id());
  if (attrs.max_norm == 0.0 || data.role != ir::Role::parameter || !data.trainable) return;
  graph.add1(renorm_op(), ir::Attrs::of(EmbeddingRenormAttrs{attrs.max_norm, attrs.norm_type}),
             {graph.value(graph.updated(weight.id())), indices});
}

// The gradient of the weight: dense, or the sums or means of the rows that were read.
Value weight_gradient(Value dy, Value indices, int64_t rows, const EmbeddingAttrs& attrs) {
  EmbeddingGradAttrs whole{rows, attrs.padding_idx};
  if (!attrs.sparse && !attrs.scale_grad_by_freq) {
    return dy.graph().add1(embedding_grad_op(), ir::Attrs::of(whole), {dy, indices});
  }
  const RowGradient some = coalesce_rows(
      dy, indices,
      {.rows = rows, .padding_idx = attrs.padding_idx, .mean = attrs.scale_grad_by_freq});
  if (attrs.sparse) return dense_rows(some, rows);
  whole.padding_idx = -1;  // these rows are already left out
  return dy.graph().add1(embedding_grad_op(), ir::Attrs::of(whole), {some.sums, some.rows});
}

const OpDef& embedding_op() {
  static const OpDef def{
      .name = "embedding",
      .signature{
          .doc = "Rows of a table by their indices: y[..., :] = weight[indices[...], :]; NaN where "
                 "there is no such row.",
          .example = "auto y = embedding(tokens, {.embeddings = 256, .width = 64});",
          .inputs = {{.name = "indices", .doc = "any shape", .types = DType::i32},
                     {"weight", "[V, D]"}},
          .outputs = {{"y", "[the shape of indices, D]"}},
          .attrs = ir::Attrs::schema_of<EmbeddingAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(1, 2);
        const auto& attrs = c.attrs.as<EmbeddingAttrs>();
        check_padding(c, attrs.padding_idx, c.shape(1)[0]);
        check_norm(c, attrs.max_norm, attrs.norm_type);
        return {{DType::f32, with_row(c.shape(0), c.shape(1)[1])}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const auto& attrs = c.attrs.as<EmbeddingAttrs>();
        append_renorm(c.input(1), c.input(0), attrs);
        return {Value(), weight_gradient(c.grad(), c.input(0), c.input(1).shape()[0], attrs)};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<EmbeddingAttrs>();
            return sizes(c.in(1), c.in(0), attrs.padding_idx, attrs.max_norm, attrs.norm_type);
          },
          .ref = ir::kernel_fn<&f32::embedding_ref>(),
          .ref64 = ir::kernel_fn<&f64::embedding_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
      .flow{
          // Rows are renormalized when a batch reads them, and frequencies are those of the batch.
          .samples =
              [](const ir::SamplesContext& c) {
                const auto& a = c.attrs.as<EmbeddingAttrs>();
                const bool mixed = c.counted[1] || a.max_norm != 0.0 || a.scale_grad_by_freq;
                return mixed ? ir::Samples::mixed : ir::Samples::independent;
              },
          // With renormalization, padding or a scaled gradient the gather must stay: a row may be
          // read elsewhere, too.
          .gathers =
              [](const ir::Attrs& attrs) {
                const auto& a = attrs.as<EmbeddingAttrs>();
                const bool plain = a.padding_idx < 0 && a.max_norm == 0.0 && !a.scale_grad_by_freq;
                return plain && !a.sparse ? 1 : -1;
              },
          .indices = [](const ir::KernelContext& c) -> ir::IndexInput {
            return {.input = 0, .size = c.in(1)[0], .ignored = {}};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::embedding_impl

THIMBLE_OP_FOLDER(embedding) {
  static const OpDef* const defs[] = {&embedding_op(), &embedding_grad_op(), &renorm_op()};
  return defs;
}

namespace thimble {

void describe(EmbeddingOptions& o, ir::OptionVisitor& v) {
  v.field("embeddings", o.embeddings, "rows of the table; must be set");
  v.field("width", o.width, "of a row; must be set");
  v.field("padding_idx", o.padding_idx,
          "the row of this index is 0 and not trained; -1: all rows are");
  v.field("max_norm", o.max_norm,
          "longer rows are shortened to this norm where they are read; 0: none");
  v.field("norm_type", o.norm_type, "the p of that norm");
  v.field("scale_grad_by_freq", o.scale_grad_by_freq,
          "a row's gradient is the mean over the places it is read");
  v.field("sparse", o.sparse,
          "updates cost what the rows read cost, not what the whole table does");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(EmbeddingAttrs& a, ir::FieldVisitor& v) {
  v.field("padding_idx", a.padding_idx, "the row of this index gets no gradient; -1: none");
  v.field("max_norm", a.max_norm, "longer rows are shortened to this norm; 0: none");
  v.field("norm_type", a.norm_type, "the p of that norm, above 0");
  v.field("scale_grad_by_freq", a.scale_grad_by_freq,
          "a row's gradient is the mean over the places it is read");
  v.field("sparse", a.sparse, "the weight's gradient is kept as rows");
}

Value embedding(Value indices, Value weight, const EmbeddingAttrs& attrs) {
  return indices.graph().add1(ops::embedding_impl::embedding_op(), ir::Attrs::of(attrs),
                              {indices, weight});
}

Value embedding(Value indices, const EmbeddingOptions& options) {
  if (options.embeddings < 1 || options.width < 1) {
    throw Error("embedding", fmt::format("expected at least 1 row of at least 1 number, got {} of "
                                         "{}; set .embeddings and .width",
                                         options.embeddings, options.width));
  }
  const ir::LayerScope layer(indices.graph(), "embedding", options.name);
  Initializer init = options.weight_init;
  init.zero_row = options.padding_idx;
  const Value weight =
      ops::layer_parameter(layer, indices, "weight", {options.embeddings, options.width}, init);
  return embedding(indices, weight,
                   {.padding_idx = options.padding_idx,
                    .max_norm = options.max_norm,
                    .norm_type = options.norm_type,
                    .scale_grad_by_freq = options.scale_grad_by_freq,
                    .sparse = options.sparse});
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(embedding) {
  static const FunctionDef def{
      .name = "embedding",
      .doc = "An embedding layer: rows of a trained table by their indices.",
      .inputs = {{.name = "indices", .doc = "any shape", .types = DType::i32}},
      .outputs = {{"y", "[the shape of indices, width]"}},
      .parameters = {{"weight", "[embeddings, width]"}},
      .options = ir::OptionSchema::of<EmbeddingOptions>(),
      .required = {"embeddings", "width"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {embedding(in[0], options_as<EmbeddingOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
