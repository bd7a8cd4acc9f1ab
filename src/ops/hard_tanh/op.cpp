#include <thimble/ops/hard_tanh.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP hard_tanh
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(hard_tanh)

namespace thimble::ops::hard_tanh_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<HardTanhAttrs>();
  return {.a = static_cast<float>(a.min_val), .b = static_cast<float>(a.max_val)};
}

void check(const ir::InferContext& c) {
  const auto& a = c.attrs.as<HardTanhAttrs>();
  c.require(a.min_val <= a.max_val, "expected min_val <= max_val");
}

ir::MaskRule mask(const ir::Attrs& attrs) {
  const auto& a = attrs.as<HardTanhAttrs>();
  return activation_mask({BitTest::inside, a.min_val, a.max_val});
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-0.9, 0.9}, .torch = "nn.functional.hardtanh(x)"},
    {.name = "wide",
     .attrs = R"({"min_val": -4.0, "max_val": 6.0})",
     .domain = {-3.5, 5.5},
     .torch = "nn.functional.hardtanh(x, -4, 6)"},
    {.name = "crossed_limits",
     .attrs = R"({"min_val": 2.0, "max_val": 1.0})",
     .refused = "min_val <= max_val"},
};

constexpr UnaryInfo kHardTanh{
    .name = "hard_tanh",
    .grad_name = "hard_tanh_grad",
    .doc =
        "Piecewise linear tanh: y = min(max(x, min_val), max_val); no gradient at the limits and "
        "beyond.",
    .example = "auto y = hard_tanh(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(hard_tanh),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<HardTanhAttrs>,
    .constants = constants,
    .check = check,
    .selects = true,
    .mask = mask,
    .clamps =
        [](const ir::Attrs& attrs) {
          const auto& a = attrs.as<HardTanhAttrs>();
          return a.min_val <= 0.0 && a.max_val >= 0.0;
        },
};

}  // namespace
}  // namespace thimble::ops::hard_tanh_impl

THIMBLE_OP_FOLDER(hard_tanh) { return Unary<kHardTanh>::folder(); }

namespace thimble {

void describe(HardTanhAttrs& a, ir::FieldVisitor& v) {
  v.field("min_val", a.min_val, "least value");
  v.field("max_val", a.max_val, "largest value");
}

Value hard_tanh(Value x, const HardTanhAttrs& attrs) {
  return ops::Unary<ops::hard_tanh_impl::kHardTanh>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
