#include <thimble/ops/rmsprop_update.h>

#include "ops/common/ref.h"
#include "ops/common/update.h"
#include "ops/rmsprop_update/attrs.h"
#include "ops/rmsprop_update/simd.h"

namespace thimble::ops {
namespace {

namespace f32 {
using real = float;
#include "ops/rmsprop_update/ref.h"
}  // namespace f32
namespace f64 {
using real = double;
#include "ops/rmsprop_update/ref.h"
}  // namespace f64

struct Rmsprop {
  static constexpr const char* name = "rmsprop_update";
  static constexpr const char* doc =
      "RMSProp, in place: g = grad + weight_decay * param; v = alpha * v + (1 - alpha) * g^2; "
      "centered: a += (1 - alpha) * (g - a) and v - a^2 stands in for v; c = g / (sqrt(v) + "
      "epsilon), or g / sqrt(v + epsilon) with epsilon_inside_root; with momentum b = momentum * b "
      "+ c and c = b; param -= lr * lr_scale * c. Equal to torch.optim.RMSprop.";
  static constexpr const char* example =
      "auto updated = rmsprop_update(param, grad, lr, step, {square_avg}, "
      "RmspropUpdateOptions{});";
  using Options = RmspropUpdateOptions;
  static std::span<const ir::ArgDoc> states() {
    static constexpr ir::ArgDoc docs[] = {
        {"square_avg", "the shape of param"},
        {"second", "the shape of param: grad_avg where centered, else momentum_buffer", true},
        {"third", "the shape of param: momentum_buffer where centered", true}};
    return docs;
  }
  static int state_count(const Options& options) {
    return 1 + (options.centered ? 1 : 0) + (options.momentum != 0.0 ? 1 : 0);
  }
  static rmsprop_dims params(const Options& options) {
    rmsprop_dims d{};
    d.centered = options.centered ? 1 : 0;
    d.maximize = options.maximize ? 1 : 0;
    d.epsilon_inside_root = options.epsilon_inside_root ? 1 : 0;
    d.alpha = options.alpha;
    d.epsilon = options.epsilon;
    d.momentum = options.momentum;
    d.weight_decay = options.weight_decay;
    d.lr_scale = options.lr_scale;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::rmsprop_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::rmsprop_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&rmsprop_update_simd>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(rmsprop_update) { return Update<Rmsprop>::folder(); }

namespace thimble {

Value rmsprop_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                     const RmspropUpdateOptions& options) {
  return ops::Update<ops::Rmsprop>::apply(param, grad, lr, step, states, options);
}

}  // namespace thimble
