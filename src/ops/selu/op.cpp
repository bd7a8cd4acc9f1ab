#include <thimble/ops/selu.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/selu/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Selu
    : UnaryKernels<&f32::selu_ref, &f64::selu_ref, &f32::selu_grad_ref, &f64::selu_grad_ref> {
  static constexpr const char* name = "selu";
  static constexpr const char* grad_name = "selu_grad";
  static constexpr const char* doc =
      "Self-normalising exponential linear unit: y = s * x for x > 0, else s * a * (exp(x) - 1).";
  static constexpr const char* example = "auto y = selu(x);";
  static constexpr Reads reads = Reads::output;
};

}  // namespace
}  // namespace ops

Value selu(Value x) { return ops::Unary<ops::Selu>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(selu) { return Unary<Selu>::folder(); }
