#include <thimble/ops/relu.h>

#include "ops/families/unary/activation_mask.h"
#include "ops/families/unary/select_16bit.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP relu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(relu)

namespace thimble::ops::relu_impl {
namespace {

ir::MaskRule mask(const ir::Attrs& /*attrs*/) { return activation_mask({BitTest::above_or_nan}); }

constexpr UnaryInfo kRelu{
    .name = "relu",
    .grad_name = "relu_grad",
    .doc = "Rectified linear unit: y = max(x, 0).",
    .example = "auto y = relu(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(relu),
    .torch = "nn.functional.relu",
    .domain = {.low = -3, .high = 3, .gap = 0.01},
    .activation = Activation::relu,
    .selects = true,
    .grad_16bit = select_above_zero_16bit,
    .mask = mask,
    .clamps = [](const ir::Attrs&) { return true; },
};

}  // namespace
}  // namespace thimble::ops::relu_impl

THIMBLE_OP_FOLDER(relu) { return Unary<kRelu>::folder(); }

namespace thimble {

Value relu(Value x) { return ops::Unary<ops::relu_impl::kRelu>::apply(x); }

Value relu_grad(Value dy, Value y) { return ops::Unary<ops::relu_impl::kRelu>::apply_grad(dy, y); }

}  // namespace thimble
