#include <thimble/ops/abs.h>

#include "ops/families/kernel/integers.h"
#include "ops/families/move/scales.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP abs
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(abs)

namespace thimble::ops::abs_impl {
namespace {

constexpr UnaryInfo kAbs{
    .name = "abs",
    .grad_name = "abs_grad",
    .doc = "Absolute value: y = |x|; its gradient at 0 is 0.",
    .example = "auto y = abs(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(abs),
    .torch = "abs",
    .domain = {.low = -3, .high = 3, .gap = 0.01},
    .check = require_plain_numbers,
    .typed = [] { return INTEGER_KERNELS(abs); },
};

}  // namespace
}  // namespace thimble::ops::abs_impl

THIMBLE_OP_FOLDER(abs) { return Unary<kAbs>::folder(); }

namespace thimble {

Value abs(Value x) { return ops::Unary<ops::abs_impl::kAbs>::apply(x); }

}  // namespace thimble
