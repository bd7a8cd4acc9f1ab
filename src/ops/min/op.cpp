#include <thimble/ops/min.h>

#include <thimble/ops/sum.h>
#include "ops/families/extremum/extremum.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/reduction/matrices.h"

#define THIMBLE_OP min
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::min_impl {
namespace {

void fast(float* y, const float* x, const reduce_dims* d, parallel::ThreadPool& pool) {
  matrices_of(*d).regular ? smallest_simd(y, x, d, pool) : f32::min_ref(y, x, d);
}

void grad_fast(float* dx, const float* dy, const float* x, const float* y, const reduce_dims* d,
               parallel::ThreadPool& pool) {
  matrices_of(*d).regular ? extremum_grad_simd(dx, dy, x, y, d, pool)
                          : f32::min_grad_ref(dx, dy, x, y, d);
}

const OpDef& min_grad_op() {
  static const OpDef def = extremum_grad_op({
      .name = "min_grad",
      .is_gradient = true,
      .kernels{
          .ref = ir::kernel_fn<&f32::min_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::min_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
  });
  return def;
}

const OpDef& min_op() {
  static const OpDef def = extremum_op({
      .name = "min",
      .signature{
          .doc = "The smallest element over axes (all where none is named); NaN counts as the "
                 "smallest.",
          .example = "auto y = min(x, {.axes = {-1}});",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(min_grad_op(), c.attrs,
                                      {c.grad(), compared(c.input(0)), compared(c.output())})};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::min_ref>(),
          .ref64 = ir::kernel_fn<&f64::min_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = INTEGER_KERNELS(min),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::min_impl

THIMBLE_OP_FOLDER(min) {
  static const OpDef* const defs[] = {&min_op(), &min_grad_op()};
  return defs;
}

namespace thimble {
Value min(Value x, const ReduceOptions& options) {
  return x.graph().add1(ops::min_impl::min_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
