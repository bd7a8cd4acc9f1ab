#include <thimble/ops/index_select.h>

#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/move/copy.h"
#include "ops/families/reduction/axes.h"
#include "ops/index_select/dims.h"

#define THIMBLE_OP index_select
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::index_select_impl {
namespace {

struct IndexSelectGradAttrs {
  int64_t axis = 0;
  int64_t size = 0;  // size of the axis in index_select's input
};

void describe(IndexSelectGradAttrs& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "of index_select");
  v.field("size", a.size, "of the axis in index_select's input");
}

void fast(unsigned char* y, const unsigned char* x, const int32_t* index,
          const index_select_dims* d, parallel::ThreadPool& pool) {
  if (copy_is_packed(d->element)) return f32::index_select_ref(y, x, index, d);
  for_each_row(pool, int64_t{d->along.outer} * d->count, d->along.inner, [&](int64_t row) {
    f32::index_select_slice(y, x, index, static_cast<int>(row / d->count),
                            static_cast<int>(row % d->count), d);
  });
}

// Columns are divided among tasks, so that no two tasks add to the same element.
void grad_fast(float* dx, const float* dy, const int32_t* index, const index_select_dims* d,
               parallel::ThreadPool& pool) {
  constexpr int kColumns = 64;
  const int64_t parts = simd::divide_up(d->along.inner, kColumns);
  for_each_row(pool, int64_t{d->along.outer} * d->along.size, d->along.inner,
               [&](int64_t row) { std::fill_n(dx + row * d->along.inner, d->along.inner, 0.0F); });
  for_each_row(pool, d->along.outer * parts, int64_t{d->count} * std::min(kColumns, d->along.inner),
               [&](int64_t i) {
                 const int begin = static_cast<int>(i % parts) * kColumns;
                 f32::index_select_grad_columns(dx, dy, index, static_cast<int>(i / parts), begin,
                                                std::min(d->along.inner, begin + kColumns), d);
               });
}

// The shape of x with another size of the axis.
Shape resized(const ir::InferContext& c, int x, int64_t axis, int64_t size) {
  std::vector<int64_t> dims = c.shape(x).dims();
  dims[static_cast<size_t>(checked_axis(c, axis, c.shape(x).rank()))] = size;
  return Shape(std::move(dims));
}

index_select_dims dims_of(const Shape& x, int64_t axis, const Shape& index, DType dtype) {
  index_select_dims d{};
  const int64_t size = x[static_cast<int>(axis < 0 ? axis + x.rank() : axis)];
  d.along = {1, static_cast<int>(size), 1};
  const int64_t chosen = axis < 0 ? axis + x.rank() : axis;
  for (int a = 0; a < x.rank(); ++a) {
    if (a < chosen) d.along.outer *= static_cast<int>(x[a]);
    if (a > chosen) d.along.inner *= static_cast<int>(x[a]);
  }
  d.count = static_cast<int>(index[0]);
  d.element = copy_element_of(dtype);
  d.missing = missing_byte(dtype);
  return d;
}

const OpDef& index_select_grad_op() {
  static const OpDef def{
      .name = "index_select_grad",
      .is_gradient = true,
      .signature{
          .doc =
              "The gradient of index_select: the sums of the slices of dy taken from each place.",
          .inputs = {{"dy", "the shape of index_select's result"},
                     {.name = "index", .doc = "[K]", .types = DType::i32}},
          .outputs = {{"dx", "dy with an axis of the size in the attributes"}},
          .attrs = ir::Attrs::schema_of<IndexSelectGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<IndexSelectGradAttrs>();
        c.require_rank(1, 1);
        c.require(attrs.size >= 0, "expected a size of at least 0");
        const int axis = checked_axis(c, attrs.axis, c.shape(0).rank());
        c.require(c.shape(0)[axis] == c.shape(1)[0], "expected a slice of dy an index");
        return {{DType::f32, resized(c, 0, attrs.axis, attrs.size)}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.out(), c.attrs.as<IndexSelectGradAttrs>().axis, c.in(1), DType::f32);
          },
          .ref = ir::kernel_fn<&f32::index_select_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::index_select_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
  };
  return def;
}

const OpDef& index_select_op() {
  static const OpDef def{
      .name = "index_select",
      .signature{
          .doc = "Slices of x along an axis, in the order of their indices: y[.., i, ..] = x[.., "
                 "index[i], ..]; NaN (0 in integers) where there is no such slice.",
          .example = "auto rows = index_select(table, index);",
          .inputs = {{"x", "at least one dimension"},
                     {.name = "index", .doc = "[K]", .types = DType::i32}},
          .outputs = {{"y", "x with an axis of size K"}},
          .attrs = ir::Attrs::schema_of<IndexSelectOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(1, 1);
        return {
            moved_type(c, 0, resized(c, 0, c.attrs.as<IndexSelectOptions>().axis, c.shape(1)[0]))};
      },
      .gradient{
          .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
            const int64_t axis = c.attrs.as<IndexSelectOptions>().axis;
            const IndexSelectGradAttrs attrs{axis, c.input(0).shape()[static_cast<int>(axis)]};
            return {c.grad().graph().add1(index_select_grad_op(), ir::Attrs::of(attrs),
                                          {c.grad(), c.input(1)})};
          },
          .to_slices = [](int axis) { return ir::Attrs::of(IndexSelectOptions{.axis = axis}); }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(0), c.attrs.as<IndexSelectOptions>().axis, c.in(1),
                           c.outputs[0].dtype);
          },
          .ref = ir::kernel_fn<&f32::index_select_ref>(),
          .ref64 = ir::kernel_fn<&f64::index_select_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
      .flow{
          // A table that all samples share has no samples of its own.
          .samples =
              [](const ir::SamplesContext& c) {
                return c.counted[0] ? samples_along(c, c.attrs.as<IndexSelectOptions>().axis)
                                    : ir::Samples::independent;
              },
          .indices = [](const ir::KernelContext& c) -> ir::IndexInput {
            if (!is_floating(c.inputs[0]->dtype)) return {};
            const auto axis = static_cast<int>(c.attrs.as<IndexSelectOptions>().axis);
            return {.input = 1, .size = c.in(0)[axis], .ignored = {}};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::index_select_impl

THIMBLE_OP_FOLDER(index_select) {
  static const OpDef* const defs[] = {&index_select_op(), &index_select_grad_op()};
  return defs;
}

namespace thimble {

void describe(IndexSelectOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "whose slices are taken; negative counts from the last");
}
Value index_select(Value x, Value index, const IndexSelectOptions& options) {
  return x.graph().add1(ops::index_select_impl::index_select_op(), ir::Attrs::of(options),
                        {x, index});
}
}  // namespace thimble
