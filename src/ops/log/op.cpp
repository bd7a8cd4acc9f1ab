#include <thimble/ops/log.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/log/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Log : UnaryKernels<&f32::log_ref, &f64::log_ref, &f32::log_grad_ref, &f64::log_grad_ref> {
  static constexpr const char* name = "log";
  static constexpr const char* grad_name = "log_grad";
  static constexpr const char* doc = "Natural logarithm: y = log(x).";
  static constexpr const char* example = "auto y = log(x);";
  static constexpr Reads reads = Reads::input;
};

}  // namespace
}  // namespace ops

Value log(Value x) { return ops::Unary<ops::Log>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(log) { return Unary<Log>::folder(); }
