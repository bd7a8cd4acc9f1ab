#include <thimble/ops/softplus.h>

#include "ops/families/unary/unary.h"

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

constexpr ir::TestCase kCases[] = {
    {.domain = {-5.0, 5.0}, .torch = "nn.functional.softplus(x)"},
    {.name = "beta", .attrs = R"({"beta": 2.0, "threshold": 40.0})", .domain = {-5.0, 5.0}},
    {.name = "linear",
     .attrs = R"({"beta": 2.0, "threshold": 4.0})",
     .domain = {2.1, 3.0},
     .torch = "nn.functional.softplus(x, 2, 4)"},
    {.name = "negative_beta", .attrs = R"({"beta": -1.0})", .refused = "beta above 0"},
};

constexpr UnaryInfo kSoftplus{
    .name = "softplus",
    .grad_name = "softplus_grad",
    .doc = "Smooth rectified linear unit: y = log(1 + exp(beta * x)) / beta.",
    .example = "auto y = softplus(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(softplus),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<SoftplusAttrs>,
    .constants = constants,
    .check = check,
};

}  // namespace
}  // namespace thimble::ops::softplus_impl

THIMBLE_OP_FOLDER(softplus) { return Unary<kSoftplus>::folder(); }

namespace thimble {

void describe(SoftplusAttrs& a, ir::FieldVisitor& v) {
  v.field("beta", a.beta, "sharpness");
  v.field("threshold", a.threshold, "of beta * x, from where on y = x");
}

Value softplus(Value x, const SoftplusAttrs& attrs) {
  return ops::Unary<ops::softplus_impl::kSoftplus>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
