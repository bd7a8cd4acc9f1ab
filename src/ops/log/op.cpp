#include <thimble/ops/log.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/log/ref.h"
#include "ops/common/both_precisions.h"

UNARY_SIMD_DECLARE(log)

namespace thimble::ops {
namespace {

constexpr UnaryInfo kLog{
    .name = "log",
    .grad_name = "log_grad",
    .doc = "Natural logarithm: y = log(x).",
    .example = "auto y = log(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(log),
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(log) { return Unary<kLog>::folder(); }

namespace thimble {

Value log(Value x) { return ops::Unary<ops::kLog>::apply(x); }

}  // namespace thimble
