#include <thimble/ops/erfc.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP erfc
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(erfc)

namespace thimble::ops::erfc_impl {
namespace {

constexpr UnaryInfo kErfc{
    .name = "erfc",
    .grad_name = "erfc_grad",
    .doc =
        "The complement of the error function: y = 1 - erf(x), without cancellation for large x.",
    .example = "auto y = erfc(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(erfc),
    .torch = "erfc",
    .domain = {.low = -3, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::erfc_impl

THIMBLE_OP_FOLDER(erfc) { return Unary<kErfc>::folder(); }

namespace thimble {

Value erfc(Value x) { return ops::Unary<ops::erfc_impl::kErfc>::apply(x); }

}  // namespace thimble
