#include <thimble/ops/elu.h>

#include "ops/elu/attrs.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP elu
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(elu)

namespace thimble::ops::elu_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  const auto& a = attrs.as<EluAttrs>();
  return {.a = static_cast<float>(a.alpha)};  // below 0 the gradient reads x
}

// With a negative alpha the output may be positive for both signs of x.
bool reads_input(const ir::Attrs& attrs) { return attrs.as<EluAttrs>().alpha < 0.0; }

constexpr UnaryInfo kElu{
    .name = "elu",
    .grad_name = "elu_grad",
    .doc = "Exponential linear unit: y = x for x > 0, else alpha * (exp(x) - 1).",
    .example = "auto y = elu(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(elu),
    .attrs = &ir::Attrs::schema_of<EluAttrs>,
    .constants = constants,
    .reads_input = reads_input,
};

}  // namespace
}  // namespace thimble::ops::elu_impl

THIMBLE_OP_FOLDER(elu) { return Unary<kElu>::folder(); }

namespace thimble {

Value elu(Value x, const EluAttrs& attrs) {
  return ops::Unary<ops::elu_impl::kElu>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
