#include <thimble/ops/argmin.h>

#include <thimble/ops/argmax.h>
#include "ops/families/extremum/extremum.h"
#include "ops/families/kernel/integers.h"

#define THIMBLE_OP argmin
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::argmin_impl {
namespace {

void fast(int32_t* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool) {
  d->inner == 1 ? place_of_smallest_simd(y, x, d, pool) : f32::argmin_ref(y, x, d);
}

const OpDef& argmin_op() {
  static const OpDef def = extremum_place_op({
      .name = "argmin",
      .signature{
          .doc = "The index of the smallest element along an axis; of equal ones the first.",
          .example = "auto nearest = argmin(distances);",
      },
      .kernels{
          .ref = ir::kernel_fn<&f32::argmin_ref>(),
          .ref64 = ir::kernel_fn<&f64::argmin_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = INTEGER_KERNELS(argmin),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::argmin_impl

THIMBLE_OP_FOLDER(argmin) {
  static const OpDef* const defs[] = {&argmin_op()};
  return defs;
}

namespace thimble {
Value argmin(Value x, const ArgminOptions& options) {
  return x.graph().add1(ops::argmin_impl::argmin_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
