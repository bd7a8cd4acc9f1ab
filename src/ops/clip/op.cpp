#include <thimble/ops/clip.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP clip
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(clip)

namespace thimble::ops::clip_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<ClipAttrs>();
  return {.a = static_cast<float>(a.low), .b = static_cast<float>(a.high)};
}

void check(const ir::InferContext& c) {
  const auto& a = c.attrs.as<ClipAttrs>();
  c.require(a.low <= a.high, "expected low <= high");
}

ir::MaskRule mask(const ir::Attrs& attrs) {
  const auto& a = attrs.as<ClipAttrs>();
  return activation_mask({BitTest::within, a.low, a.high});
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-3.0, 0.9, 0.01}, .torch = "clamp(x, 0, 1)"},
    {.name = "wide",
     .attrs = R"({"low": -1.5, "high": 2.0})",
     .domain = {-1.4, 1.9},
     .torch = "clamp(x, -1.5, 2)"},
    {.name = "outside", .attrs = R"({"low": -1.5, "high": 2.0})", .domain = {2.1, 3.0}},
    {.name = "empty_interval", .attrs = R"({"low": 1.0, "high": 0.0})", .refused = "low <= high"},
};

constexpr UnaryInfo kClip{
    .name = "clip",
    .grad_name = "clip_grad",
    .doc = "Limits: y = min(max(x, low), high).",
    .example = "auto y = clip(x, {.low = -1.0, .high = 1.0});",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(clip),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<ClipAttrs>,
    .constants = constants,
    .check = check,
    .mask = mask,
    .clamps =
        [](const ir::Attrs& attrs) {
          const auto& a = attrs.as<ClipAttrs>();
          return a.low <= 0.0 && a.high >= 0.0;
        },
};

}  // namespace
}  // namespace thimble::ops::clip_impl

THIMBLE_OP_FOLDER(clip) { return Unary<kClip>::folder(); }

namespace thimble {

void describe(ClipAttrs& a, ir::FieldVisitor& v) {
  v.field("low", a.low, "least value");
  v.field("high", a.high, "largest value");
}

Value clip(Value x, const ClipAttrs& attrs) {
  return ops::Unary<ops::clip_impl::kClip>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
