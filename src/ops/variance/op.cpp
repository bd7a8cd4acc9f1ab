#include <thimble/ops/variance.h>

#include "ops/families/reduction/reduction.h"

#define THIMBLE_OP variance
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::variance_impl {
namespace {

double constant(const VarianceOptions& options) { return options.correction; }

constexpr ReductionInfo kVariance{
    .name = "variance",
    .grad_name = "variance_grad",
    .doc =
        "The variance over axes (all where none is named): the sum of (x - mean)^2 / (count - "
        "correction).",
    .example = "auto y = variance(x, {.axes = {0}});",
    REDUCTION_KERNELS(variance),
};
using Variance = AxesReduction<kVariance, VarianceOptions, constant>;

constexpr ReductionInfo kStandardDeviation{
    .name = "standard_deviation",
    .grad_name = "standard_deviation_grad",
    .doc = "The standard deviation over axes: the square root of the variance.",
    .example = "auto y = standard_deviation(x, {.axes = {0}});",
    REDUCTION_KERNELS(standard_deviation),
};
using StandardDeviation = AxesReduction<kStandardDeviation, VarianceOptions, constant>;

}  // namespace
}  // namespace thimble::ops::variance_impl

THIMBLE_OP_FOLDER(variance) {
  static const OpDef* const defs[] = {&Variance::op(), &Variance::grad(), &StandardDeviation::op(),
                                      &StandardDeviation::grad()};
  return defs;
}

namespace thimble {

void describe(VarianceOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "axes that vanish; none: all");
  v.field("keepdims", a.keepdims, "keep them with size 1");
  v.field("correction", a.correction,
          "taken from the number of elements: 1 for a sample, 0 for all there is");
}

Value variance(Value x, const VarianceOptions& options) {
  return ops::variance_impl::Variance::apply(x, options);
}

Value standard_deviation(Value x, const VarianceOptions& options) {
  return ops::variance_impl::StandardDeviation::apply(x, options);
}

}  // namespace thimble
