#include <thimble/ops/leaky_relu.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP leaky_relu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(leaky_relu)

namespace thimble::ops::leaky_relu_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<LeakyReluAttrs>();
  return {.a = static_cast<float>(a.slope)};
}

// With a negative slope the output may be positive for both signs of x.
bool reads_input(const ir::Attrs& attrs) { return attrs.as<LeakyReluAttrs>().slope < 0.0; }

// A slope of 0 gives zeros of both signs, which one bit cannot tell apart.
ir::MaskRule mask(const ir::Attrs& attrs) {
  const double slope = attrs.as<LeakyReluAttrs>().slope;
  return static_cast<float>(slope) == 0.0F ? ir::MaskRule{}
                                           : activation_mask({BitTest::above}, slope);
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-3.0, 3.0, 0.01}, .torch = "nn.functional.leaky_relu(x)"},
    {.name = "steep",
     .attrs = R"({"slope": 0.3})",
     .domain = {-3.0, 3.0, 0.01},
     .torch = "nn.functional.leaky_relu(x, 0.3)"},
    {.name = "flat", .attrs = R"({"slope": 0.0})", .domain = {-3.0, 3.0, 0.01}},
    {.name = "negative_slope",
     .attrs = R"({"slope": -0.3})",
     .domain = {-3.0, 3.0, 0.01},
     .torch = "nn.functional.leaky_relu(x, -0.3)"},
};

constexpr UnaryInfo kLeakyRelu{
    .name = "leaky_relu",
    .grad_name = "leaky_relu_grad",
    .doc = "Leaky rectified linear unit: y = x for x > 0, else slope * x.",
    .example = "auto y = leaky_relu(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(leaky_relu),
    .cases = kCases,
    .attrs = &ir::Attrs::schema_of<LeakyReluAttrs>,
    .constants = constants,
    .reads_input = reads_input,
    .mask = mask,
};

}  // namespace
}  // namespace thimble::ops::leaky_relu_impl

THIMBLE_OP_FOLDER(leaky_relu) { return Unary<kLeakyRelu>::folder(); }

namespace thimble {

void describe(LeakyReluAttrs& a, ir::FieldVisitor& v) {
  v.field("slope", a.slope, "for negative x");
}

Value leaky_relu(Value x, const LeakyReluAttrs& attrs) {
  return ops::Unary<ops::leaky_relu_impl::kLeakyRelu>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
