#include <thimble/ops/atan.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP atan
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(atan)

namespace thimble::ops::atan_impl {
namespace {

constexpr UnaryInfo kAtan{
    .name = "atan",
    .grad_name = "atan_grad",
    .doc = "The inverse of the tangent: y = atan(x).",
    .example = "auto y = atan(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(atan),
    .torch = "atan",
    .domain = {.low = -5, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::atan_impl

THIMBLE_OP_FOLDER(atan) { return Unary<kAtan>::folder(); }

namespace thimble {

Value atan(Value x) { return ops::Unary<ops::atan_impl::kAtan>::apply(x); }

}  // namespace thimble
