#include <thimble/ops/logit.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP logit
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(logit)

namespace thimble::ops::logit_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<LogitAttrs>();
  return {.a = static_cast<float>(a.eps)};
}

void check(const ir::InferContext& c) {
  const auto& a = c.attrs.as<LogitAttrs>();
  c.require(a.eps <= 0.5, "expected an eps of at most 1/2");
}

constexpr ir::TestCase kCases[] = {
    {.domain = {0.05, 0.95}, .torch = "logit(x)"},
    {.name = "eps",
     .attrs = R"({"eps": 0.03125})",
     .domain = {0.05, 0.95},
     .torch = "logit(x, 0.03125)"},
    {.name = "half", .attrs = R"({"eps": 0.75})", .refused = "eps of at most 1/2"},
};

constexpr UnaryInfo kLogit{
    .name = "logit",
    .grad_name = "logit_grad",
    .doc =
        "The inverse of the sigmoid: y = log(x / (1 - x)), of x limited to [eps, 1 - eps] where "
        "eps is not negative.",
    .example = "auto y = logit(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(logit),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<LogitAttrs>,
    .constants = constants,
    .check = check,
};

}  // namespace
}  // namespace thimble::ops::logit_impl

THIMBLE_OP_FOLDER(logit) { return Unary<kLogit>::folder(); }

namespace thimble {

void describe(LogitAttrs& a, ir::FieldVisitor& v) {
  v.field("eps", a.eps, "distance from 0 and 1 that x keeps; below 0 for none");
}

Value logit(Value x, const LogitAttrs& attrs) {
  return ops::Unary<ops::logit_impl::kLogit>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
