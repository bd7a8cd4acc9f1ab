#include <thimble/ops/gelu.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP gelu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(gelu)

namespace thimble::ops::gelu_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<GeluAttrs>();
  return {.a = static_cast<float>(a.tanh_approximation)};
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-5.0, 5.0}, .torch = "nn.functional.gelu(x)"},
    {.name = "tanh",
     .attrs = R"({"tanh_approximation": true})",
     .domain = {-5.0, 5.0},
     .torch = "nn.functional.gelu(x, approximate='tanh')"},
};

constexpr UnaryInfo kGelu{
    .name = "gelu",
    .grad_name = "gelu_grad",
    .doc = "Gaussian error linear unit: y = x * Phi(x).",
    .example = "auto y = gelu(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(gelu),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<GeluAttrs>,
    .constants = constants,
};

}  // namespace
}  // namespace thimble::ops::gelu_impl

THIMBLE_OP_FOLDER(gelu) { return Unary<kGelu>::folder(); }

namespace thimble {

void describe(GeluAttrs& a, ir::FieldVisitor& v) {
  v.field("tanh_approximation", a.tanh_approximation, "use the approximation");
}

Value gelu(Value x, const GeluAttrs& attrs) {
  return ops::Unary<ops::gelu_impl::kGelu>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
