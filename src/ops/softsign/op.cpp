#include <thimble/ops/softsign.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP softsign
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(softsign)

namespace thimble::ops::softsign_impl {
namespace {

constexpr UnaryInfo kSoftsign{
    .name = "softsign",
    .grad_name = "softsign_grad",
    .doc = "Softsign: y = x / (1 + |x|).",
    .example = "auto y = softsign(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(softsign),
    .torch = "nn.functional.softsign",
    .domain = {.low = -5, .high = 5, .gap = 0.01},
};

}  // namespace
}  // namespace thimble::ops::softsign_impl

THIMBLE_OP_FOLDER(softsign) { return Unary<kSoftsign>::folder(); }

namespace thimble {

Value softsign(Value x) { return ops::Unary<ops::softsign_impl::kSoftsign>::apply(x); }

}  // namespace thimble
