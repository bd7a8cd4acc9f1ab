#include <thimble/ops/radam_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/moments.h"
#include "ops/families/update/update.h"
#include "ops/radam_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP radam_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::radam_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void radam_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m_, const float* v_, const radam_dims* d,
                       parallel::ThreadPool& pool);

namespace {

struct RAdamRule {
  static constexpr const char* name = "radam_update";
  static constexpr const char* optimizer = "radam";
  static constexpr const char* type_name = "RAdam";
  static constexpr const char* doc =
      "RAdam, in place: g = grad + weight_decay * param (decoupled_weight_decay: "
      "param *= 1 - lr * weight_decay instead); m and v as in Adam; r_max = 2 / (1 - beta2) - 1; "
      "r = r_max - 2 * step * beta2^step / (1 - beta2^step); c = m / (1 - beta1^step); where r > "
      "5, "
      "c *= sqrt((r - 4) * (r - 2) * r_max / ((r_max - 4) * (r_max - 2) * r)) * "
      "sqrt(1 - beta2^step) / (sqrt(v) + epsilon); param -= lr * c. Equal to torch.optim.RAdam.";
  using Settings = RAdam;
  static void check(const RAdam& s, const SettingChecks& checks) { check_moments(s, checks); }
  static constexpr const char* momentum_name = "beta1";
  static constexpr double radam_dims::*momentum = &radam_dims::beta1;
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"exp_avg", "the shape of param"},
                                          {"exp_avg_sq", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const RAdam& /*s*/, const Shape& param) {
    return like_param(param, {"exp_avg", "exp_avg_sq"});
  }
  static radam_dims params(const RAdam& s, const Shape& /*param*/) {
    auto d = moment_dims<radam_dims>(s);
    d.decoupled = s.decoupled_weight_decay ? 1 : 0;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::radam_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::radam_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&radam_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::radam_update_impl

THIMBLE_OPTIMIZER_FOLDER(radam_update) { return Update<RAdamRule>::folder(); }

namespace thimble {

void describe(RAdam& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v);
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

RAdam::operator Optimizer() const {
  return ops::Update<ops::radam_update_impl::RAdamRule>::optimizer(*this);
}

}  // namespace thimble
