#include <thimble/ops/nearest_centroid.h>

#include <fmt/format.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/nearest_centroid/dims.h"

#define THIMBLE_OP nearest_centroid
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::nearest_centroid_impl {
namespace {

void fast(float* y, const float* x, const float* sums, const float* counts,
          const nearest_centroid_dims* d, parallel::ThreadPool& pool) {
  for_each_row(pool, d->rows, int64_t{d->size} * d->classes, [&](int64_t row) {
    f32::nearest_centroid_row(y + row * d->classes, x + row * d->size, sums, counts, d);
  });
}

// Checks x: [N, D], sums: [C, D] and counts: [C] at these inputs.
void check(const ir::InferContext& c, int x, int sums, int counts) {
  c.require_rank(x, 2);
  c.require_rank(sums, 2);
  c.require(c.shape(sums)[1] == c.shape(x)[1], "expected sums of as many features as x");
  c.require(c.shape(counts) == Shape{c.shape(sums)[0]}, "expected one count a class");
}

nearest_centroid_dims dims_of(const Shape& x, const Shape& sums) {
  nearest_centroid_dims d{};
  d.rows = static_cast<int>(x[0]);
  d.size = static_cast<int>(x[1]);
  d.classes = static_cast<int>(sums[0]);
  return d;
}

const OpDef& nearest_centroid_op() {
  static const OpDef def{
      .name = "nearest_centroid",
      .signature{
          .doc = "How near rows lie to the mean of each class: y[n, c] = -|x[n] - sums[c] / "
                 "counts[c]|^2, and minus infinity for a class without samples.",
          .example = "auto scores = nearest_centroid(features, sums, counts);",
          .inputs = {{"x", "[N, D]"}, {"sums", "[C, D]"}, {"counts", "[C]"}},
          .outputs = {{"y", "[N, C]"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 0, 1, 2);
        return {{DType::f32, {c.shape(0)[0], c.shape(1)[0]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(0), c.in(1));
          },
          .ref = ir::kernel_fn<&f32::nearest_centroid_ref>(),
          .ref64 = ir::kernel_fn<&f64::nearest_centroid_ref>(),
          .fast = ir::kernel_fn<&fast>(),
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return c.counted[1] || c.counted[2] ? ir::Samples::mixed
                                                      : ir::Samples::independent;
                }},
  };
  return def;
}

const OpDef& nearest_centroid_update_op() {
  static const OpDef def{
      .name = "nearest_centroid_update",
      .signature{
          .doc = "Adds each row of x and 1 to the sums and the count of its class; rows whose "
                 "label is no class are left out. Nothing at inference.",
          .inputs = {{"sums", "[C, D]"},
                     {"counts", "[C]"},
                     {"x", "[N, D]"},
                     {.name = "labels", .doc = "[N]", .types = DType::i32}},
          .outputs = {{"new_sums", "[C, D]"}, {"new_counts", "[C]"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 2, 0, 1);
        c.require(c.shape(3) == Shape{c.shape(2)[0]}, "expected one label a row");
        return {c.input(0), c.input(1)};
      },
      .rewrite{
          .specialize = [](const ir::RewriteContext& c, ir::Phase phase) -> std::vector<Value> {
            if (phase == ir::Phase::training) return {};
            return {c.input(0), c.input(1)};
          }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(2), c.in(0));
          },
          .ref = ir::kernel_fn<&f32::nearest_centroid_update_ref>(),
          .ref64 = ir::kernel_fn<&f64::nearest_centroid_update_ref>(),
      },
      .memory{.updates = {{0, 0}, {1, 1}}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::nearest_centroid_impl

THIMBLE_OP_FOLDER(nearest_centroid) {
  static const OpDef* const defs[] = {&nearest_centroid_op(), &nearest_centroid_update_op()};
  return defs;
}

namespace thimble {

void describe(NearestCentroidOptions& o, ir::OptionVisitor& v) {
  v.field("classes", o.classes, "must be set");
  v.field("name", o.name, "of the layer; empty: numbered");
}

Value nearest_centroid(Value x, Value sums, Value counts) {
  return x.graph().add1(ops::nearest_centroid_impl::nearest_centroid_op(), {}, {x, sums, counts});
}

Value nearest_centroid(Value x, Value labels, const NearestCentroidOptions& options) {
  if (x.shape().rank() != 2 || options.classes < 1) {
    throw Error("nearest_centroid",
                fmt::format("expected features [N, D] and at least one class, got {} and {}",
                            to_string(x.shape()), options.classes));
  }
  ir::Graph& graph = x.graph();
  const ir::LayerScope layer(graph, "nearest_centroid", options.name);
  const auto state = [&](const char* name, const Shape& shape) {
    return graph.source(layer.name() + "." + name, {DType::f32, shape}, ir::Role::state,
                        init::zeros());
  };
  const Value sums = state("sums", {options.classes, x.shape()[1]});
  const Value counts = state("counts", {options.classes});
  const Value scores = nearest_centroid(x, sums, counts);
  const Value inputs[] = {sums, counts, x, labels};
  graph.add(ops::nearest_centroid_impl::nearest_centroid_update_op(), {}, inputs);
  return scores;
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(nearest_centroid) {
  static const FunctionDef nearest_centroid_function{
      .name = "nearest_centroid",
      .doc =
          "A classifier head that learns a class from a few samples without gradients: training "
          "adds each row to its class, and the scores say how near rows lie to the mean of each "
          "class. The states are <name>.sums [classes, D] and <name>.counts [classes].",
      .example = "g.output(\"scores\", nearest_centroid(features, label, {.classes = 10}));",
      .inputs = {{"x", "[N, D]"}, {.name = "labels", .doc = "[N]", .types = DType::i32}},
      .outputs = {{"y", "[N, classes]"}},
      .options = ir::OptionSchema::of<NearestCentroidOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {nearest_centroid(in[0], in[1], options_as<NearestCentroidOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&nearest_centroid_function};
  return defs;
}
