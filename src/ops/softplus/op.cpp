#include <thimble/ops/softplus.h>

#include "ops/families/unary/unary.h"
#include "ops/softplus/attrs.h"

#define THIMBLE_OP softplus
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(softplus)

namespace thimble::ops::softplus_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<SoftplusAttrs>();
  return {.a = static_cast<float>(a.beta), .b = static_cast<float>(a.threshold)};
}

void check(const ir::InferContext& c) {
  const auto& a = c.attrs.as<SoftplusAttrs>();
  c.require(a.beta > 0.0, "expected a beta above 0");
}

constexpr UnaryInfo kSoftplus{
    .name = "softplus",
    .grad_name = "softplus_grad",
    .doc = "Smooth rectified linear unit: y = log(1 + exp(beta * x)) / beta.",
    .example = "auto y = softplus(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(softplus),
    .attrs = &ir::Attrs::schema_of<SoftplusAttrs>,
    .constants = constants,
    .check = check,
};

}  // namespace
}  // namespace thimble::ops::softplus_impl

THIMBLE_OP_FOLDER(softplus) { return Unary<kSoftplus>::folder(); }

namespace thimble {

Value softplus(Value x, const SoftplusAttrs& attrs) {
  return ops::Unary<ops::softplus_impl::kSoftplus>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
