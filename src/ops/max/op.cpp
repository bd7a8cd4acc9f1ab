#include <thimble/ops/max.h>

#include <thimble/ops/sum.h>
#include "ops/families/extremum/extremum.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/reduction/matrices.h"

#define THIMBLE_OP max
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::max_impl {
namespace {

void fast(float* y, const float* x, const reduce_dims* d, parallel::ThreadPool& pool) {
  matrices_of(*d).regular ? largest_simd(y, x, d, pool) : f32::max_ref(y, x, d);
}

void grad_fast(float* dx, const float* dy, const float* x, const float* y, const reduce_dims* d,
               parallel::ThreadPool& pool) {
  matrices_of(*d).regular ? extremum_grad_simd(dx, dy, x, y, d, pool)
                          : f32::max_grad_ref(dx, dy, x, y, d);
}

const OpDef& max_grad_op() {
  static const OpDef def = extremum_grad_op({
      .name = "max_grad",
      .is_gradient = true,
      .kernels{
          .ref = ir::kernel_fn<&f32::max_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
  });
  return def;
}

const OpDef& max_op() {
  static const OpDef def = extremum_op({
      .name = "max",
      .signature{
          .doc =
              "The largest element over axes (all where none is named); NaN counts as the largest.",
          .example = "auto y = max(x, {.axes = {-1}});",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(max_grad_op(), c.attrs,
                                      {c.grad(), compared(c.input(0)), compared(c.output())})};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::max_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = INTEGER_KERNELS(max),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::max_impl

THIMBLE_OP_FOLDER(max) {
  static const OpDef* const defs[] = {&max_op(), &max_grad_op()};
  return defs;
}

namespace thimble {
Value max(Value x, const ReduceOptions& options) {
  return x.graph().add1(ops::max_impl::max_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
