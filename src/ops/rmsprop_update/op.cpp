#include <thimble/ops/rmsprop_update.h>

#include "ops/families/update/update.h"
#include "ops/rmsprop_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP rmsprop_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::rmsprop_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void rmsprop_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* v, const float* second,
                         const float* third, const rmsprop_dims* d, parallel::ThreadPool& pool);

namespace {

struct Rmsprop {
  static constexpr const char* name = "rmsprop_update";
  static constexpr const char* optimizer = "rmsprop";
  static constexpr const char* type_name = "RMSProp";
  static constexpr const char* doc =
      "RMSProp, in place: g = grad + weight_decay * param; v = alpha * v + (1 - alpha) * g^2; "
      "centered: a += (1 - alpha) * (g - a) and v - a^2 stands in for v; c = g / (sqrt(v) + "
      "epsilon), or g / sqrt(v + epsilon) with epsilon_inside_root; with momentum b = momentum * b "
      "+ c and c = b; param -= lr * c. Equal to torch.optim.RMSprop.";
  using Settings = RMSProp;
  static void check(const RMSProp& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr},
                         {"epsilon", s.epsilon},
                         {"momentum", s.momentum},
                         {"weight_decay", s.weight_decay}});
    checks.below_one({{"alpha", s.alpha}});
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {
        {"square_avg", "the shape of param"},
        {"second", "the shape of param: grad_avg where centered, else momentum_buffer", true},
        {"third", "the shape of param: momentum_buffer where centered", true}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const RMSProp& s, const Shape& param) {
    std::vector<ir::StateSpec> specs = like_param(param, {"square_avg"});
    if (s.centered) specs.push_back({"grad_avg", {DType::f32, param}});
    if (s.momentum != 0.0) specs.push_back({"momentum_buffer", {DType::f32, param}});
    return specs;
  }
  static rmsprop_dims params(const RMSProp& options, const Shape&) {
    rmsprop_dims d{};
    d.centered = options.centered ? 1 : 0;
    d.maximize = options.maximize ? 1 : 0;
    d.epsilon_inside_root = options.epsilon_inside_root ? 1 : 0;
    d.alpha = options.alpha;
    d.epsilon = options.epsilon;
    d.momentum = options.momentum;
    d.weight_decay = options.weight_decay;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::rmsprop_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::rmsprop_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&rmsprop_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::rmsprop_update_impl

THIMBLE_OPTIMIZER_FOLDER(rmsprop_update) { return Update<Rmsprop>::folder(); }

namespace thimble {

void describe(RMSProp& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("alpha", a.alpha, "share of the averages that is kept");
  v.field("epsilon", a.epsilon, "keeps the divisor from 0");
  v.field("momentum", a.momentum, "share of the buffer that is kept");
  v.field("centered", a.centered, "divide by the root of the variance, not of the mean square");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("epsilon_inside_root", a.epsilon_inside_root,
          "divide by sqrt(v + epsilon), not by sqrt(v) + epsilon");
}

RMSProp::operator Optimizer() const {
  return ops::Update<ops::rmsprop_update_impl::Rmsprop>::optimizer(*this);
}

}  // namespace thimble
