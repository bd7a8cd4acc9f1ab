#include <thimble/ops/hard_swish.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP hard_swish
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(hard_swish)

namespace thimble::ops::hard_swish_impl {
namespace {

constexpr ir::TestCase kCases[] = {
    {.domain = {-2.9, 2.9}, .torch = "nn.functional.hardswish(x)"},
    {.name = "above", .domain = {3.1, 5.0}},
    {.name = "below", .domain = {-5.0, -3.1}},
};

constexpr UnaryInfo kHardSwish{
    .name = "hard_swish",
    .grad_name = "hard_swish_grad",
    .doc = "Piecewise swish: y = x * min(max(x + 3, 0), 6) / 6.",
    .example = "auto y = hard_swish(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(hard_swish),
    .cases = kCases,
};

}  // namespace
}  // namespace thimble::ops::hard_swish_impl

THIMBLE_OP_FOLDER(hard_swish) { return Unary<kHardSwish>::folder(); }

namespace thimble {

Value hard_swish(Value x) { return ops::Unary<ops::hard_swish_impl::kHardSwish>::apply(x); }

}  // namespace thimble
