#include <thimble/ops/sinh.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP sinh
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(sinh)

namespace thimble::ops::sinh_impl {
namespace {

constexpr UnaryInfo kSinh{
    .name = "sinh",
    .grad_name = "sinh_grad",
    .doc = "The hyperbolic sine: y = (exp(x) - exp(-x)) / 2.",
    .example = "auto y = sinh(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(sinh),
    .torch = "sinh",
    .domain = {.low = -3, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::sinh_impl

THIMBLE_OP_FOLDER(sinh) { return Unary<kSinh>::folder(); }

namespace thimble {

Value sinh(Value x) { return ops::Unary<ops::sinh_impl::kSinh>::apply(x); }

}  // namespace thimble
