#include <thimble/ops/sgd_update.h>

#include "ops/common/ref.h"
#include "ops/common/update.h"
#include "ops/sgd_update/attrs.h"
#include "ops/sgd_update/simd.h"

namespace thimble::ops {
namespace {

namespace f32 {
using real = float;
#include "ops/sgd_update/ref.h"
}  // namespace f32
namespace f64 {
using real = double;
#include "ops/sgd_update/ref.h"
}  // namespace f64

struct Sgd {
  static constexpr const char* name = "sgd_update";
  static constexpr const char* doc =
      "Stochastic gradient descent, in place: g = grad + weight_decay * param; with momentum, "
      "b = momentum * b + (1 - dampening) * g (b = g in step 1) and g = b, or g + momentum * b for "
      "Nesterov; param -= lr * lr_scale * g. Equal to torch.optim.SGD.";
  static constexpr const char* example =
      "auto updated = sgd_update(param, grad, lr, step, {}, SgdUpdateOptions{});";
  using Options = SgdUpdateOptions;
  static std::span<const ir::ArgDoc> states() {
    static constexpr ir::ArgDoc docs[] = {{"momentum_buffer", "the shape of param", true}};
    return docs;
  }
  static int state_count(const Options& options) { return options.momentum != 0.0 ? 1 : 0; }
  static sgd_dims params(const Options& options) {
    sgd_dims d{};
    d.nesterov = options.nesterov ? 1 : 0;
    d.maximize = options.maximize ? 1 : 0;
    d.momentum = options.momentum;
    d.dampening = options.dampening;
    d.weight_decay = options.weight_decay;
    d.lr_scale = options.lr_scale;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::sgd_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::sgd_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&sgd_update_simd>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(sgd_update) { return Update<Sgd>::folder(); }

namespace thimble {

Value sgd_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                 const SgdUpdateOptions& options) {
  return ops::Update<ops::Sgd>::apply(param, grad, lr, step, states, options);
}

}  // namespace thimble
