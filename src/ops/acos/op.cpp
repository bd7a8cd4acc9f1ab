#include <thimble/ops/acos.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/acos/ref.h"
#include "ops/common/both_precisions.h"

UNARY_SIMD_DECLARE(acos)

namespace thimble::ops {
namespace {

constexpr UnaryInfo kAcos{
    .name = "acos",
    .grad_name = "acos_grad",
    .doc = "The inverse of the cosine: y = acos(x), NaN where |x| > 1.",
    .example = "auto y = acos(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(acos),
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(acos) { return Unary<kAcos>::folder(); }

namespace thimble {

Value acos(Value x) { return ops::Unary<ops::kAcos>::apply(x); }

}  // namespace thimble
