#include <thimble/ops/relu6.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/select_16bit.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP relu6
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(relu6)

namespace thimble::ops::relu6_impl {
namespace {

ir::MaskRule mask(const ir::Attrs& /*attrs*/) {
  return activation_mask({BitTest::inside, 0.0, 6.0});
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-5.9, 5.9, 0.01}, .torch = "nn.functional.relu6(x)"},
    {.name = "above", .domain = {6.1, 8.0}},
};

constexpr UnaryInfo kRelu6{
    .name = "relu6",
    .grad_name = "relu6_grad",
    .doc = "Rectified linear unit with a ceiling: y = min(max(x, 0), 6).",
    .example = "auto y = relu6(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(relu6),
    .cases = kCases,
    .activation = Activation::relu6,
    .selects = true,
    .grad_16bit = [](const ir::KernelCall& call) { select_between_16bit(call, 6.0F); },
    .mask = mask,
    .clamps = [](const ir::Attrs&) { return true; },
};

}  // namespace
}  // namespace thimble::ops::relu6_impl

THIMBLE_OP_FOLDER(relu6) { return Unary<kRelu6>::folder(); }

namespace thimble {

Value relu6(Value x) { return ops::Unary<ops::relu6_impl::kRelu6>::apply(x); }

Value relu6_grad(Value dy, Value y) {
  return ops::Unary<ops::relu6_impl::kRelu6>::apply_grad(dy, y);
}

}  // namespace thimble
