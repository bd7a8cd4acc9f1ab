#include <thimble/ops/rsqrt.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/rsqrt/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Rsqrt
    : UnaryKernels<&f32::rsqrt_ref, &f64::rsqrt_ref, &f32::rsqrt_grad_ref, &f64::rsqrt_grad_ref> {
  static constexpr const char* name = "rsqrt";
  static constexpr const char* grad_name = "rsqrt_grad";
  static constexpr const char* doc = "Reciprocal square root: y = 1 / sqrt(x).";
  static constexpr const char* example = "auto y = rsqrt(x);";
  static constexpr Reads reads = Reads::output;
};

}  // namespace
}  // namespace ops

Value rsqrt(Value x) { return ops::Unary<ops::Rsqrt>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(rsqrt) { return Unary<Rsqrt>::folder(); }
