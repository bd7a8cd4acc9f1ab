#include <thimble/ops/log.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP log
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(log)

namespace thimble::ops::log_impl {
namespace {

constexpr UnaryInfo kLog{
    .name = "log",
    .grad_name = "log_grad",
    .doc = "Natural logarithm: y = log(x).",
    .example = "auto y = log(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(log),
    .torch = "log",
    .domain = {.low = 0.1, .high = 9},
};

}  // namespace
}  // namespace thimble::ops::log_impl

THIMBLE_OP_FOLDER(log) { return Unary<kLog>::folder(); }

namespace thimble {

Value log(Value x) { return ops::Unary<ops::log_impl::kLog>::apply(x); }

}  // namespace thimble
