#include <thimble/ops/softshrink.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP softshrink
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(softshrink)

namespace thimble::ops::softshrink_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<SoftshrinkAttrs>();
  return {.a = static_cast<float>(a.lambd)};
}

void check(const ir::InferContext& c) {
  const auto& a = c.attrs.as<SoftshrinkAttrs>();
  c.require(a.lambd >= 0.0, "expected a lambd of at least 0");
}

ir::MaskRule mask(const ir::Attrs& /*attrs*/) { return activation_mask({BitTest::outside}); }

constexpr ir::TestCase kCases[] = {
    {.domain = {-5.0, 5.0, 0.51}, .torch = "nn.functional.softshrink(x)"},
    {.name = "narrow",
     .attrs = R"({"lambd": 0.25})",
     .domain = {-3.0, 3.0, 0.51},
     .torch = "nn.functional.softshrink(x, 0.25)"},
    {.name = "negative_lambd", .attrs = R"({"lambd": -0.5})", .refused = "lambd of at least 0"},
};

constexpr UnaryInfo kSoftshrink{
    .name = "softshrink",
    .grad_name = "softshrink_grad",
    .doc = "Soft thresholding: y = x - lambd for x > lambd, x + lambd for x < -lambd, else 0.",
    .example = "auto y = softshrink(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(softshrink),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<SoftshrinkAttrs>,
    .constants = constants,
    .check = check,
    .selects = true,
    .mask = mask,
};

}  // namespace
}  // namespace thimble::ops::softshrink_impl

THIMBLE_OP_FOLDER(softshrink) { return Unary<kSoftshrink>::folder(); }

namespace thimble {

void describe(SoftshrinkAttrs& a, ir::FieldVisitor& v) {
  v.field("lambd", a.lambd, "half the width of the interval that becomes 0");
}

Value softshrink(Value x, const SoftshrinkAttrs& attrs) {
  return ops::Unary<ops::softshrink_impl::kSoftshrink>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
