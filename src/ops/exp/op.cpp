#include <thimble/ops/exp.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/exp/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Exp : UnaryKernels<&f32::exp_ref, &f64::exp_ref, &f32::exp_grad_ref, &f64::exp_grad_ref> {
  static constexpr const char* name = "exp";
  static constexpr const char* grad_name = "exp_grad";
  static constexpr const char* doc = "Exponential: y = exp(x).";
  static constexpr const char* example = "auto y = exp(x);";
  static constexpr Reads reads = Reads::output;
};

}  // namespace
}  // namespace ops

Value exp(Value x) { return ops::Unary<ops::Exp>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(exp) { return Unary<Exp>::folder(); }
