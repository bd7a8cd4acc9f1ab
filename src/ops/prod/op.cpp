#include <thimble/ops/prod.h>

#include <thimble/ops/sum.h>
#include "ops/families/kernel/integers.h"
#include "ops/families/reduction/reduction.h"

#define THIMBLE_OP prod
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::prod_impl {
namespace {

double constant(const ReduceOptions&) { return 0.0; }

constexpr ReductionInfo kProd{
    .name = "prod",
    .grad_name = "prod_grad",
    .doc = "The product over axes (all where none is named); that of integers wraps.",
    .example = "auto y = prod(x, {.axes = {1}});",
    REDUCTION_KERNELS(prod),
    .typed = [] { return SUM_KERNELS(prod); },
};
using Prod = AxesReduction<kProd, ReduceOptions, constant>;

}  // namespace
}  // namespace thimble::ops::prod_impl

THIMBLE_OP_FOLDER(prod) {
  static const OpDef* const defs[] = {&Prod::op(), &Prod::grad()};
  return defs;
}

namespace thimble {

Value prod(Value x, const ReduceOptions& options) {
  return ops::prod_impl::Prod::apply(x, options);
}

}  // namespace thimble
