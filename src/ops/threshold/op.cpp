#include <thimble/ops/threshold.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP threshold
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(threshold)

namespace thimble::ops::threshold_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<ThresholdAttrs>();
  return {.a = static_cast<float>(a.threshold), .b = static_cast<float>(a.value)};
}

ir::MaskRule mask(const ir::Attrs& attrs) {
  return activation_mask({BitTest::above_or_nan, attrs.as<ThresholdAttrs>().threshold});
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-5.0, 5.0, 0.01}, .torch = "nn.functional.threshold(x, 0, 0)"},
    {.name = "raised",
     .attrs = R"({"threshold": -1.0, "value": -7.0})",
     .domain = {0.5, 3.0, 0.01},
     .torch = "nn.functional.threshold(x, -1, -7)"},
};

constexpr UnaryInfo kThreshold{
    .name = "threshold",
    .grad_name = "threshold_grad",
    .doc = "y = x where x > threshold, else value.",
    .example = "auto y = threshold(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(threshold),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<ThresholdAttrs>,
    .constants = constants,
    .mask = mask,
};

}  // namespace
}  // namespace thimble::ops::threshold_impl

THIMBLE_OP_FOLDER(threshold) { return Unary<kThreshold>::folder(); }

namespace thimble {

void describe(ThresholdAttrs& a, ir::FieldVisitor& v) {
  v.field("threshold", a.threshold, "what x must exceed");
  v.field("value", a.value, "value of the other elements");
}

Value threshold(Value x, const ThresholdAttrs& attrs) {
  return ops::Unary<ops::threshold_impl::kThreshold>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
