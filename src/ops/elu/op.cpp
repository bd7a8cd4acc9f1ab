#include <thimble/ops/elu.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP elu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(elu)

namespace thimble::ops::elu_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<EluAttrs>();
  return {.a = static_cast<float>(a.alpha)};  // below 0 the gradient reads x
}

// With a negative alpha the output may be positive for both signs of x.
bool reads_input(const ir::Attrs& attrs) { return attrs.as<EluAttrs>().alpha < 0.0; }

constexpr ir::TestCase kCases[] = {
    {.domain = {-3.0, 3.0, 0.01}, .torch = "nn.functional.elu(x)"},
    {.name = "alpha",
     .attrs = R"({"alpha": 0.6})",
     .domain = {-3.0, 3.0, 0.01},
     .torch = "nn.functional.elu(x, 0.6)"},
    {.name = "negative_alpha",
     .attrs = R"({"alpha": -0.6})",
     .domain = {-3.0, 3.0, 0.01},
     .torch = "nn.functional.elu(x, -0.6)"},
};

constexpr UnaryInfo kElu{
    .name = "elu",
    .grad_name = "elu_grad",
    .doc = "Exponential linear unit: y = x for x > 0, else alpha * (exp(x) - 1).",
    .example = "auto y = elu(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(elu),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<EluAttrs>,
    .constants = constants,
    .reads_input = reads_input,
};

}  // namespace
}  // namespace thimble::ops::elu_impl

THIMBLE_OP_FOLDER(elu) { return Unary<kElu>::folder(); }

namespace thimble {

void describe(EluAttrs& a, ir::FieldVisitor& v) {
  v.field("alpha", a.alpha, "minus the limit for small x");
}

Value elu(Value x, const EluAttrs& attrs) {
  return ops::Unary<ops::elu_impl::kElu>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
