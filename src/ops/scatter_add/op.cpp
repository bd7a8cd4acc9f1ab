#include <thimble/ops/gather.h>
#include <thimble/ops/scatter_add.h>

#include "ir/graph.h"
#include "ops/families/indexed/indexed.h"
#include "ops/families/indexed/scatter.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP scatter_add
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"
#include "ops/families/move/scales.h"

namespace thimble::ops::scatter_add_impl {
namespace {

void fast(float* y, const float* x, const int32_t* index, const float* source,
          const indexed_dims* d, parallel::ThreadPool& pool) {
  scatter_fast(y, x, index, *d, pool, [source](float& to, int64_t i) { to += source[i]; });
}

void fast_grad(float* dx, const float* dy, const int32_t* index, const indexed_dims* d,
               parallel::ThreadPool& pool) {
  fast(dx, nullptr, index, dy, d, pool);
}

const OpDef& scatter_add_op() {
  static const OpDef def{
      .name = "scatter_add",
      .signature{
          .doc = "x with numbers added where an index says: y = x, then y[i, index[i, j, k], k] += "
                 "source[i, j, k] for axis 1.",
          .example = "auto y = scatter_add(x, index, source, {.axis = 1});",
          .inputs = {{"x", "any shape"},
                     {.name = "index",
                      .doc = "as many dimensions, no larger but along the axis",
                      .types = DType::i32},
                     {"source", "the shape of index"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<ScatterAddOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_indexed(c, c.shape(0), 1, c.attrs.as<ScatterAddOptions>().axis);
        c.require(c.shape(2) == c.shape(1), "expected a source of the shape of index");
        require_plain_numbers(c);
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const GatherOptions options{c.attrs.as<ScatterAddOptions>().axis};
        return {c.grad(), Value(), c.need(2) ? gather(c.grad(), c.input(1), options) : Value()};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return indexed_dims_of(c.out(), c.in(1), c.attrs.as<ScatterAddOptions>().axis,
                                   c.inputs[0]->dtype);
          },
          .ref = ir::kernel_fn<&f32::scatter_add_ref>(),
          .ref64 = ir::kernel_fn<&f64::scatter_add_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = with_index(INTEGER_KERNELS(scatter_add)),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<ScatterAddOptions>().axis);
                }},
  };
  return def;
}

const OpDef& gather_grad_op() {
  static const OpDef def{
      .name = "gather_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of gather by its input: dy added to zeros where the index says.",
          .inputs = {{"dy", "the shape of index"},
                     {.name = "index", .doc = "gather's", .types = DType::i32}},
          .outputs = {{"dx", "the shape in the attributes"}},
          .attrs = ir::Attrs::schema_of<GatherGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<GatherGradAttrs>();
        check_indexed(c, attrs.shape, 1, attrs.axis);
        c.require(c.shape(0) == c.shape(1), "expected dy of the shape of index");
        return {{DType::f32, attrs.shape}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return indexed_dims_of(c.out(), c.in(1), c.attrs.as<GatherGradAttrs>().axis,
                                   DType::f32);
          },
          .ref = ir::kernel_fn<&f32::gather_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::gather_grad_ref>(),
          .fast = ir::kernel_fn<&fast_grad>(),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::scatter_add_impl

THIMBLE_OP_FOLDER(scatter_add) {
  static const OpDef* const defs[] = {&scatter_add_op(), &gather_grad_op()};
  return defs;
}

namespace thimble {

void describe(ScatterAddOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which indices count; negative counts from the last");
}

void describe(GatherGradAttrs& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "of gather");
  v.field("shape", a.shape, "of gather's input");
}

Value scatter_add(Value x, Value index, Value source, const ScatterAddOptions& options) {
  return index.graph().add1(ops::scatter_add_impl::scatter_add_op(), ir::Attrs::of(options),
                            {x, index, source});
}

Value gather_grad(Value dy, Value index, const GatherGradAttrs& attrs) {
  return dy.graph().add1(ops::scatter_add_impl::gather_grad_op(), ir::Attrs::of(attrs),
                         {dy, index});
}

}  // namespace thimble
