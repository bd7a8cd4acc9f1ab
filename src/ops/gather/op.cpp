#include <thimble/ops/gather.h>
#include <thimble/ops/scatter_add.h>

#include <bit>
#include <cmath>

#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/indexed/indexed.h"
#include "ops/families/indexed/indexed_dims.h"
#include "ops/families/move/copy.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP gather
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::gather_impl {

// In simd.cpp. Computes one run of the innermost axis for
// elements of 4 bytes of any type. missing: the bits written for an invalid index. x: where the
// run's elements of index 0 begin.
void gather_words(int32_t* y, const int32_t* x, const int32_t* index, int32_t missing,
                  const indexed_dims& d);

namespace {

void fast(unsigned char* y, const unsigned char* x, const int32_t* index, const indexed_dims* d,
          parallel::ThreadPool& pool) {
  if (copy_is_packed(d->walk.element)) return f32::gather_ref(y, x, index, d);
  const int inner = d->walk.size[0];
  const bool is_word = d->walk.element.bits == 32;
  const int32_t missing = d->walk.element.is_real ? std::bit_cast<int32_t>(NAN) : 0;
  for_each_row(pool, d->walk.n / inner, inner, [&](int64_t run) {
    const int begin = static_cast<int>(run) * inner;
    if (is_word) {
      gather_words(reinterpret_cast<int32_t*>(y) + begin,
                   reinterpret_cast<const int32_t*>(x) + strided_offset(begin, &d->walk),
                   index + begin, missing, *d);
    } else {
      f32::gather_part(y, x, index, d, begin, begin + inner);
    }
  });
}

const OpDef& gather_op() {
  static const OpDef def{
      .name = "gather",
      .signature{
          .doc = "Elements found along an axis by their index: y[i, j, k] = x[i, index[i, j, k], "
                 "k] for axis 1; NaN (0 in integers) where there is no such element.",
          .example = "auto y = gather(x, index, {.axis = 1});",
          .inputs = {{"x", "any shape"},
                     {.name = "index",
                      .doc = "as many dimensions, no larger but along the axis",
                      .types = DType::i32}},
          .outputs = {{"y", "the shape of index"}},
          .attrs = ir::Attrs::schema_of<GatherOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_indexed(c, c.shape(0), 1, c.attrs.as<GatherOptions>().axis);
        return {moved_type(c, 0, c.shape(1))};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const GatherGradAttrs attrs{c.attrs.as<GatherOptions>().axis, c.input(0).shape()};
        return {gather_grad(c.grad(), c.input(1), attrs)};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return indexed_dims_of(c.in(0), c.in(1), c.attrs.as<GatherOptions>().axis,
                                   c.outputs[0].dtype);
          },
          .ref = ir::kernel_fn<&f32::gather_ref>(),
          .ref64 = ir::kernel_fn<&f64::gather_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
      .flow{
          // Each sample looks up its own elements, or rows of a table that is shared by all
          // samples.
          .samples =
              [](const ir::SamplesContext& c) {
                const ir::Samples along = samples_along(c, c.attrs.as<GatherOptions>().axis);
                const bool is_first = along == ir::Samples::mixed;
                return is_first == c.counted[0] ? ir::Samples::mixed : ir::Samples::independent;
              },
          .indices = [](const ir::KernelContext& c) -> ir::IndexInput {
            if (!is_floating(c.inputs[0]->dtype)) return {};
            const auto axis = static_cast<int>(c.attrs.as<GatherOptions>().axis);
            return {.input = 1, .size = c.in(0)[axis], .ignored = {}};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::gather_impl

THIMBLE_OP_FOLDER(gather) {
  static const OpDef* const defs[] = {&gather_op()};
  return defs;
}

namespace thimble {

void describe(GatherOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which indices count; negative counts from the last");
}
Value gather(Value x, Value index, const GatherOptions& options) {
  return x.graph().add1(ops::gather_impl::gather_op(), ir::Attrs::of(options), {x, index});
}
}  // namespace thimble
