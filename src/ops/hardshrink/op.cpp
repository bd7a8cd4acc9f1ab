#include <thimble/ops/hardshrink.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP hardshrink
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(hardshrink)

namespace thimble::ops::hardshrink_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<HardshrinkAttrs>();
  return {.a = static_cast<float>(a.lambd)};
}

ir::MaskRule mask(const ir::Attrs& attrs) {
  const double lambd = attrs.as<HardshrinkAttrs>().lambd;
  return activation_mask({BitTest::outside, -lambd, lambd});
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-5.0, 5.0, 0.51}, .torch = "nn.functional.hardshrink(x)"},
    {.name = "narrow",
     .attrs = R"({"lambd": 0.25})",
     .domain = {-3.0, 3.0, 0.51},
     .torch = "nn.functional.hardshrink(x, 0.25)"},
};

constexpr UnaryInfo kHardshrink{
    .name = "hardshrink",
    .grad_name = "hardshrink_grad",
    .doc = "Hard thresholding: y = x where |x| > lambd, else 0.",
    .example = "auto y = hardshrink(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(hardshrink),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<HardshrinkAttrs>,
    .constants = constants,
    .mask = mask,
};

}  // namespace
}  // namespace thimble::ops::hardshrink_impl

THIMBLE_OP_FOLDER(hardshrink) { return Unary<kHardshrink>::folder(); }

namespace thimble {

void describe(HardshrinkAttrs& a, ir::FieldVisitor& v) {
  v.field("lambd", a.lambd, "half the width of the interval that becomes 0");
}

Value hardshrink(Value x, const HardshrinkAttrs& attrs) {
  return ops::Unary<ops::hardshrink_impl::kHardshrink>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
