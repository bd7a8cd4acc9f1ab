#include <thimble/ops/cos.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP cos
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(cos)

namespace thimble::ops::cos_impl {
namespace {

constexpr UnaryInfo kCos{
    .name = "cos",
    .grad_name = "cos_grad",
    .doc = "The cosine: y = cos(x).",
    .example = "auto y = cos(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(cos),
    .torch = "cos",
    .domain = {.low = -5, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::cos_impl

THIMBLE_OP_FOLDER(cos) { return Unary<kCos>::folder(); }

namespace thimble {

Value cos(Value x) { return ops::Unary<ops::cos_impl::kCos>::apply(x); }

}  // namespace thimble
