#include <thimble/ops/tanh.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/tanh/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Tanh
    : UnaryKernels<&f32::tanh_ref, &f64::tanh_ref, &f32::tanh_grad_ref, &f64::tanh_grad_ref> {
  static constexpr const char* name = "tanh";
  static constexpr const char* grad_name = "tanh_grad";
  static constexpr const char* doc = "Hyperbolic tangent: y = tanh(x).";
  static constexpr const char* example = "auto y = tanh(x);";
  static constexpr Reads reads = Reads::output;
};

}  // namespace
}  // namespace ops

Value tanh(Value x) { return ops::Unary<ops::Tanh>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(tanh) { return Unary<Tanh>::folder(); }
