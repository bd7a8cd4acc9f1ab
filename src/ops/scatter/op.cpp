#include <thimble/ops/gather.h>
#include <thimble/ops/scatter.h>

#include "ir/graph.h"
#include "ops/families/indexed/indexed.h"
#include "ops/families/indexed/scatter.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP scatter
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"
#include "ops/families/move/scales.h"

namespace thimble::ops::scatter_impl {
namespace {

void fast(float* y, const float* x, const int32_t* index, const float* source,
          const indexed_dims* d, parallel::ThreadPool& pool) {
  if (source != nullptr) {
    scatter_fast(y, x, index, *d, pool, [source](float& to, int64_t i) { to = source[i]; });
  } else {
    const auto fill = static_cast<float>(d->walk.fill);
    scatter_fast(y, x, index, *d, pool, [fill](float& to, int64_t) { to = fill; });
  }
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const int64_t axis = c.attrs.as<ScatterOptions>().axis;
  std::vector<Value> grads(3);
  if (c.need(0)) grads[0] = scatter(c.grad(), c.input(1), Value(), {.axis = axis, .value = 0.0});
  if (c.need(2)) grads[2] = gather(c.grad(), c.input(1), {.axis = axis});
  return grads;
}

const OpDef& scatter_op() {
  static const OpDef def{
      .name = "scatter",
      .signature{
          .doc = "x with elements replaced where an index says: y = x, then y[i, index[i, j, k], "
                 "k] = source[i, j, k] for axis 1, or a number where there is no source.",
          .example = "auto y = scatter(x, index, source, {.axis = 1});",
          .inputs = {{"x", "any shape"},
                     {.name = "index",
                      .doc = "as many dimensions, no larger but along the axis",
                      .types = DType::i32},
                     {"source", "the shape of index", true}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<ScatterOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_indexed(c, c.shape(0), 1, c.attrs.as<ScatterOptions>().axis);
        if (c.has(2)) {
          c.require(c.shape(2) == c.shape(1), "expected a source of the shape of index");
          require_same_quantization(c, 0, 2);
        } else {
          require_plain_numbers(c);
          require_holds(c, c.input(0).dtype, c.attrs.as<ScatterOptions>().value);
        }
        return {moved_type(c, 0, c.shape(0))};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& options = c.attrs.as<ScatterOptions>();
            indexed_dims d = indexed_dims_of(c.out(), c.in(1), options.axis, c.inputs[0]->dtype);
            d.walk.fill = options.value;
            return d;
          },
          .ref = ir::kernel_fn<&f32::scatter_ref>(),
          .ref64 = ir::kernel_fn<&f64::scatter_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = with_index(INTEGER_KERNELS(scatter)),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<ScatterOptions>().axis);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::scatter_impl

THIMBLE_OP_FOLDER(scatter) {
  static const OpDef* const defs[] = {&scatter_op()};
  return defs;
}

namespace thimble {

void describe(ScatterOptions& options, ir::FieldVisitor& visitor) {
  visitor.field("axis", options.axis, "along which indices count; negative counts from the last");
  visitor.field("value", options.value, "what is written where there is no source");
}

Value scatter(Value x, Value index, Value source, const ScatterOptions& options) {
  return index.graph().add1(ops::scatter_impl::scatter_op(), ir::Attrs::of(options),
                            {x, index, source});
}

}  // namespace thimble
