#include <thimble/ops/gelu.h>

#include "ops/families/unary/unary.h"
#include "ops/gelu/attrs.h"

#define THIMBLE_OP gelu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(gelu)

namespace thimble::ops::gelu_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<GeluAttrs>();
  return {.a = static_cast<float>(a.tanh_approximation)};
}

constexpr UnaryInfo kGelu{
    .name = "gelu",
    .grad_name = "gelu_grad",
    .doc = "Gaussian error linear unit: y = x * Phi(x).",
    .example = "auto y = gelu(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(gelu),
    .attrs = &ir::Attrs::schema_of<GeluAttrs>,
    .constants = constants,
};

}  // namespace
}  // namespace thimble::ops::gelu_impl

THIMBLE_OP_FOLDER(gelu) { return Unary<kGelu>::folder(); }

namespace thimble {

Value gelu(Value x, const GeluAttrs& attrs) {
  return ops::Unary<ops::gelu_impl::kGelu>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
