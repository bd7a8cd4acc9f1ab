#include <thimble/ops/norm.h>

#include "ops/families/reduction/reduction.h"

#define THIMBLE_OP norm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::norm_impl {
namespace {

double constant(const NormOptions& options) { return options.p; }

constexpr ReductionInfo kNorm{
    .name = "norm",
    .grad_name = "norm_grad",
    .doc = "The norm over axes (all where none is named): (sum of |x|^p)^(1/p).",
    .example = "auto y = norm(x, {.axes = {-1}});",
    REDUCTION_KERNELS(norm),
};
using Norm = AxesReduction<kNorm, NormOptions, constant>;

}  // namespace
}  // namespace thimble::ops::norm_impl

THIMBLE_OP_FOLDER(norm) {
  static const OpDef* const defs[] = {&Norm::op(), &Norm::grad()};
  return defs;
}

namespace thimble {

void describe(NormOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "axes that vanish; none: all");
  v.field("keepdims", a.keepdims, "keep them with size 1");
  v.field("p", a.p, "exponent; 0, infinity and -infinity too");
}

Value norm(Value x, const NormOptions& options) { return ops::norm_impl::Norm::apply(x, options); }

}  // namespace thimble
