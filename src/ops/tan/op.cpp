#include <thimble/ops/tan.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP tan
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(tan)

namespace thimble::ops::tan_impl {
namespace {

constexpr UnaryInfo kTan{
    .name = "tan",
    .grad_name = "tan_grad",
    .doc = "The tangent: y = tan(x).",
    .example = "auto y = tan(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(tan),
    .torch = "tan",
    .domain = {.low = -1.4, .high = 1.4},
};

}  // namespace
}  // namespace thimble::ops::tan_impl

THIMBLE_OP_FOLDER(tan) { return Unary<kTan>::folder(); }

namespace thimble {

Value tan(Value x) { return ops::Unary<ops::tan_impl::kTan>::apply(x); }

}  // namespace thimble
