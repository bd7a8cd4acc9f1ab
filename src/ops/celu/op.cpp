#include <thimble/ops/celu.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP celu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(celu)

namespace thimble::ops::celu_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<CeluAttrs>();
  return {.a = static_cast<float>(a.alpha)};
}

void check(const ir::InferContext& c) {
  const auto& a = c.attrs.as<CeluAttrs>();
  c.require(a.alpha != 0.0, "expected an alpha other than 0");
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-3.0, 3.0, 0.01}, .torch = "nn.functional.celu(x)"},
    {.name = "wide",
     .attrs = R"({"alpha": 2.5})",
     .domain = {-3.0, 3.0, 0.01},
     .torch = "nn.functional.celu(x, 2.5)"},
    {.name = "negative",
     .attrs = R"({"alpha": -1.5})",
     .domain = {-3.0, 3.0, 0.01},
     .torch = "nn.functional.celu(x, -1.5)"},
    {.name = "zero", .attrs = R"({"alpha": 0.0})", .refused = "alpha other than 0"},
};

constexpr UnaryInfo kCelu{
    .name = "celu",
    .grad_name = "celu_grad",
    .doc =
        "Continuously differentiable exponential linear unit: y = x for x > 0, else alpha * (exp(x "
        "/ alpha) - 1).",
    .example = "auto y = celu(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(celu),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<CeluAttrs>,
    .constants = constants,
    .check = check,
};

}  // namespace
}  // namespace thimble::ops::celu_impl

THIMBLE_OP_FOLDER(celu) { return Unary<kCelu>::folder(); }

namespace thimble {

void describe(CeluAttrs& a, ir::FieldVisitor& v) {
  v.field("alpha", a.alpha, "minus the limit for small x");
}

Value celu(Value x, const CeluAttrs& attrs) {
  return ops::Unary<ops::celu_impl::kCelu>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
