#include <thimble/ops/clip.h>

#include "ops/common/unary.h"
#include "ops/clip/attrs.h"

#define THIMBLE_REF "ops/clip/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Clip
    : UnaryKernels<&f32::clip_ref, &f64::clip_ref, &f32::clip_grad_ref, &f64::clip_grad_ref> {
  static constexpr const char* name = "clip";
  static constexpr const char* grad_name = "clip_grad";
  static constexpr const char* doc = "Limits: y = min(max(x, low), high).";
  static constexpr const char* example = "auto y = clip(x);";
  static constexpr Reads reads = Reads::input;
  using Attributes = ClipAttrs;
  static unary_dims params(const Attributes& attrs) {
    return {.a = static_cast<float>(attrs.low), .b = static_cast<float>(attrs.high)};
  }
};

}  // namespace
}  // namespace ops

Value clip(Value x, const ClipAttrs& attrs) { return ops::Unary<ops::Clip>::apply(x, attrs); }

}  // namespace thimble

THIMBLE_OP_FOLDER(clip) { return Unary<Clip>::folder(); }
