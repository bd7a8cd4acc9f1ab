#include <thimble/ops/argmax.h>

#include "ops/families/extremum/extremum.h"
#include "ops/families/kernel/integers.h"

#define THIMBLE_OP argmax
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::argmax_impl {
namespace {

void fast(int32_t* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool) {
  d->inner == 1 ? place_of_largest_simd(y, x, d, pool) : f32::argmax_ref(y, x, d);
}

const OpDef& argmax_op() {
  static const OpDef def = extremum_place_op({
      .name = "argmax",
      .signature{
          .doc = "The index of the largest element along an axis; of equal ones the first.",
          .example = "auto digit = argmax(logits);",
      },
      .kernels{
          .ref = ir::kernel_fn<&f32::argmax_ref>(),
          .ref64 = ir::kernel_fn<&f64::argmax_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = INTEGER_KERNELS(argmax),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::argmax_impl

THIMBLE_OP_FOLDER(argmax) {
  static const OpDef* const defs[] = {&argmax_op()};
  return defs;
}

namespace thimble {

void describe(ArgmaxOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis that vanishes");
  v.field("keepdims", a.keepdims, "keep it with size 1");
  v.field("flat", a.flat, "of all elements in their order, whatever the axis");
}
Value argmax(Value x, const ArgmaxOptions& options) {
  return x.graph().add1(ops::argmax_impl::argmax_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
