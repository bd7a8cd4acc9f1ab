#include <thimble/ops/exp.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP exp
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(exp)

namespace thimble::ops::exp_impl {
namespace {

constexpr UnaryInfo kExp{
    .name = "exp",
    .grad_name = "exp_grad",
    .doc = "Exponential: y = exp(x).",
    .example = "auto y = exp(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(exp),
    .torch = "exp",
    .domain = {.low = -5, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::exp_impl

THIMBLE_OP_FOLDER(exp) { return Unary<kExp>::folder(); }

namespace thimble {

Value exp(Value x) { return ops::Unary<ops::exp_impl::kExp>::apply(x); }

}  // namespace thimble
