#include <thimble/ops/sigmoid.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/sigmoid/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Sigmoid : UnaryKernels<&f32::sigmoid_ref, &f64::sigmoid_ref, &f32::sigmoid_grad_ref,
                              &f64::sigmoid_grad_ref> {
  static constexpr const char* name = "sigmoid";
  static constexpr const char* grad_name = "sigmoid_grad";
  static constexpr const char* doc = "Logistic function: y = 1 / (1 + exp(-x)).";
  static constexpr const char* example = "auto y = sigmoid(x);";
  static constexpr Reads reads = Reads::output;
};

}  // namespace
}  // namespace ops

Value sigmoid(Value x) { return ops::Unary<ops::Sigmoid>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(sigmoid) { return Unary<Sigmoid>::folder(); }
