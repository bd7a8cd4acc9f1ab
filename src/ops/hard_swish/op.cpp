#include <thimble/ops/hard_swish.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/hard_swish/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct HardSwish : UnaryKernels<&f32::hard_swish_ref, &f64::hard_swish_ref,
                                &f32::hard_swish_grad_ref, &f64::hard_swish_grad_ref> {
  static constexpr const char* name = "hard_swish";
  static constexpr const char* grad_name = "hard_swish_grad";
  static constexpr const char* doc = "Piecewise swish: y = x * min(max(x + 3, 0), 6) / 6.";
  static constexpr const char* example = "auto y = hard_swish(x);";
  static constexpr Reads reads = Reads::input;
};

}  // namespace
}  // namespace ops

Value hard_swish(Value x) { return ops::Unary<ops::HardSwish>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(hard_swish) { return Unary<HardSwish>::folder(); }
