#include <thimble/ops/nadam_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/moments.h"
#include "ops/families/update/update.h"
#include "ops/nadam_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP nadam_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::nadam_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void nadam_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m_, const float* v_,
                       const float* mu_product, const nadam_dims* d, parallel::ThreadPool& pool);

namespace {

struct NAdamRule {
  static constexpr const char* name = "nadam_update";
  static constexpr const char* optimizer = "nadam";
  static constexpr const char* type_name = "NAdam";
  static constexpr const char* doc =
      "NAdam, in place: g = grad + weight_decay * param (decoupled_weight_decay: "
      "param *= 1 - lr * weight_decay instead); m and v as in Adam; "
      "mu_t = beta1 * (1 - 0.96^(t * momentum_decay) / 2); M = the product of mu_1 to mu_step; "
      "param -= lr * ((1 - mu_step) / (1 - M) * g + mu_(step+1) / (1 - M * mu_(step+1)) * m) / "
      "(sqrt(v / (1 - beta2^step)) + epsilon). Equal to torch.optim.NAdam.";
  using Settings = NAdam;
  static void check(const NAdam& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr},
                         {"epsilon", s.epsilon},
                         {"weight_decay", s.weight_decay},
                         {"momentum_decay", s.momentum_decay}});
    checks.below_one({{"beta1", s.beta1}, {"beta2", s.beta2}});
  }
  static constexpr const char* momentum_name = "beta1";
  static constexpr double nadam_dims::*momentum = &nadam_dims::beta1;
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {
        {"exp_avg", "the shape of param"},
        {"exp_avg_sq", "the shape of param"},
        {"mu_product", "one number: the product of the momenta of all steps"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const NAdam& /*s*/, const Shape& param) {
    std::vector<ir::StateSpec> specs = like_param(param, {"exp_avg", "exp_avg_sq"});
    specs.push_back({"mu_product", {DType::f32, {}}, 1.0});
    return specs;
  }
  static nadam_dims params(const NAdam& s, const Shape& /*param*/) {
    auto d = moment_dims<nadam_dims>(s);
    d.decoupled = s.decoupled_weight_decay ? 1 : 0;
    d.momentum_decay = s.momentum_decay;
    return d;
  }
  static constexpr bool elementwise = false;
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::nadam_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::nadam_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&nadam_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::nadam_update_impl

THIMBLE_OPTIMIZER_FOLDER(nadam_update) { return Update<NAdamRule>::folder(); }

namespace thimble {

void describe(NAdam& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v);
  v.field("momentum_decay", a.momentum_decay, "of the momentum's warm-up");
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

NAdam::operator Optimizer() const {
  return ops::Update<ops::nadam_update_impl::NAdamRule>::optimizer(*this);
}

}  // namespace thimble
