#include <thimble/ops/selu.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP selu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(selu)

namespace thimble::ops::selu_impl {
namespace {

// The fast kernel's factors above and below 0.
unary_dims constants(const ir::Attrs& /*attrs*/) {
  return {.a = 1.0507009874F, .b = 1.0507009874F * 1.6732632424F};
}

constexpr UnaryInfo kSelu{
    .name = "selu",
    .grad_name = "selu_grad",
    .doc =
        "Self-normalising exponential linear unit: y = s * x for x > 0, else s * a * (exp(x) - 1).",
    .example = "auto y = selu(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(selu),
    .torch = "nn.functional.selu",
    .domain = {.low = -3, .high = 3, .gap = 0.01},
    .constants = constants,
};

}  // namespace
}  // namespace thimble::ops::selu_impl

THIMBLE_OP_FOLDER(selu) { return Unary<kSelu>::folder(); }

namespace thimble {

Value selu(Value x) { return ops::Unary<ops::selu_impl::kSelu>::apply(x); }

}  // namespace thimble
