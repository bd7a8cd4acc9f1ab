#include <fmt/format.h>
#include <thimble/ops/rotary_embedding.h>

#include <cmath>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ir/own_constant.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/rotary_embedding/dims.h"

#define THIMBLE_OP rotary_embedding
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::rotary_embedding_impl {
namespace {

struct RotatePairsAttrs {
  bool interleaved = false;
  bool inverse = false;
};

void describe(RotatePairsAttrs& a, ir::FieldVisitor& v) {
  v.field("interleaved", a.interleaved, "pairs are neighbours, not halves");
  v.field("inverse", a.inverse, "rotate by the negative angles");
}

void fast(float* y, const float* x, const float* turns, const rotary_dims* d,
          parallel::ThreadPool& pool) {
  for_each_row(pool, d->rows, int64_t{d->heads} * d->width,
               [&](int64_t row) { f32::rotate_pairs_row(y, x, turns, static_cast<int>(row), d); });
}

const OpDef& rotate_pairs_op() {
  static const OpDef def{
      .name = "rotate_pairs",
      .signature{
          .doc = "Pairs of numbers turned by the angles of their step, of which a table is given.",
          .inputs = {{"x", "[N, T, ..., D]"}, {"turns", "[T, 2, pairs]: cosines and sines"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<RotatePairsAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.shape(0).rank() >= 3, "expected x [N, T, ..., D]");
        c.require_rank(1, 3);
        const Shape& turns = c.shape(1);
        c.require(turns[0] == c.shape(0)[1] && turns[1] == 2 && 2 * turns[2] <= c.shape(0)[-1],
                  "expected turns [T, 2, pairs] with at most D / 2 pairs");
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        RotatePairsAttrs attrs = c.attrs.as<RotatePairsAttrs>();
        attrs.inverse = !attrs.inverse;
        return {
            c.grad().graph().add1(rotate_pairs_op(), ir::Attrs::of(attrs), {c.grad(), c.input(1)})};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<RotatePairsAttrs>();
            const Shape& x = c.in(0);
            rotary_dims d{};
            d.rows = static_cast<int>(x[0] * x[1]);
            d.steps = static_cast<int>(x[1]);
            d.heads = 1;
            for (int axis = 2; axis < x.rank() - 1; ++axis) d.heads *= static_cast<int>(x[axis]);
            d.width = static_cast<int>(x[-1]);
            d.pairs = static_cast<int>(c.in(1)[2]);
            d.interleaved = attrs.interleaved ? 1 : 0;
            d.inverse = attrs.inverse ? 1 : 0;
            return d;
          },
          .ref = ir::kernel_fn<&f32::rotate_pairs_ref>(),
          .ref64 = ir::kernel_fn<&f64::rotate_pairs_ref>(),
          .fast = ir::kernel_fn<&fast>(),
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

// The table of these angles.
Array table_of(int64_t steps, int64_t width, const RotaryEmbeddingOptions& options) {
  const int64_t pairs = width / 2;
  std::vector<float> table(static_cast<size_t>(steps * width));
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t i = 0; i < pairs; ++i) {
      const double share = 2.0 * static_cast<double>(i) / static_cast<double>(width);
      const double angle = static_cast<double>(t + options.offset) * std::pow(options.base, -share);
      table[static_cast<size_t>(t * width + i)] = static_cast<float>(std::cos(angle));
      table[static_cast<size_t>(t * width + pairs + i)] = static_cast<float>(std::sin(angle));
    }
  }
  return Array(std::move(table), {steps, 2, pairs});
}

// The same as a constant; reuses an equal one of the graph.
Value rotations(ir::Graph& graph, int64_t steps, int64_t width,
                const RotaryEmbeddingOptions& options) {
  return ir::own_constant(
      graph, fmt::format("@rotary_{}_{}_{}_{}", steps, width, options.base, options.offset),
      table_of(steps, width, options));
}

}  // namespace
}  // namespace thimble::ops::rotary_embedding_impl

THIMBLE_OP_FOLDER(rotary_embedding) {
  static const OpDef* const defs[] = {&rotate_pairs_op()};
  return defs;
}

namespace thimble {

void describe(RotaryEmbeddingOptions& o, ir::OptionVisitor& v) {
  v.field("interleaved", o.interleaved, "pairs are neighbours (2i, 2i + 1), not halves");
  v.field("base", o.base, "pair i rotates by base^(-2i / width) radians a position");
  v.field("width", o.width, "how many of the last dimension's numbers rotate; even; 0: all");
  v.field("offset", o.offset, "of the first position");
}

Value rotary_embedding(Value x, const RotaryEmbeddingOptions& options) {
  const Shape& shape = x.shape();
  if (shape.rank() < 3) {
    throw Error("rotary_embedding",
                fmt::format("expected x [N, T, ..., D], got {}", to_string(shape)));
  }
  const int64_t width = options.width == 0 ? shape[-1] : options.width;
  if (width < 0 || width % 2 != 0 || width > shape[-1]) {
    throw Error("rotary_embedding",
                fmt::format("expected an even width of at most {}, got {}", shape[-1], width));
  }
  if (!(options.base > 0.0) || !std::isfinite(options.base)) {
    throw Error("rotary_embedding", fmt::format("expected a base above 0, got {}", options.base));
  }
  const Value table = ops::rotary_embedding_impl::rotations(x.graph(), shape[1], width, options);
  return x.graph().add1(ops::rotary_embedding_impl::rotate_pairs_op(),
                        ir::Attrs::of(ops::rotary_embedding_impl::RotatePairsAttrs{
                            .interleaved = options.interleaved}),
                        {x, table});
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(rotary_embedding) {
  static const FunctionDef def{
      .name = "rotary_embedding",
      .doc = "Pairs of numbers turned by angles that grow with their position along axis 1.",
      .example = "auto q = rotary_embedding(reshape(queries, {-1, 64, 6, 32}));",
      .inputs = {{"x", "[N, T, ..., D]"}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<RotaryEmbeddingOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {rotary_embedding(in[0], options_as<RotaryEmbeddingOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
