#include <thimble/ops/norm.h>

#include "ops/families/reduction/reduction.h"
#include "ops/norm/attrs.h"

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

Value norm(Value x, const NormOptions& options) { return ops::norm_impl::Norm::apply(x, options); }

}  // namespace thimble
