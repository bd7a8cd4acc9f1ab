#include <thimble/ops/lamb_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/moments.h"
#include "ops/families/update/update.h"
#include "ops/lamb_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP lamb_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::lamb_update_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. workspace: lamb_update_workspace_bytes(d).
void lamb_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* m_, const float* v_, void* workspace,
                      const lamb_dims* d, parallel::ThreadPool& pool);

[[nodiscard]] int64_t lamb_update_workspace_bytes(const lamb_dims& d);

namespace {

struct LAMBRule {
  static constexpr const char* name = "lamb_update";
  static constexpr const char* optimizer = "lamb";
  static constexpr const char* type_name = "LAMB";
  static constexpr const char* doc =
      "LAMB, in place: m and v as in Adam; r = m / (1 - beta1^step) / (sqrt(v / (1 - beta2^step)) "
      "+ "
      "epsilon) + weight_decay * param; param -= lr * |param| / |r| * r, or lr * r where a norm is "
      "0.";
  using Settings = LAMB;
  static void check(const LAMB& s, const SettingChecks& checks) { check_moments(s, checks); }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"exp_avg", "the shape of param"},
                                          {"exp_avg_sq", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const LAMB& /*s*/, const Shape& param) {
    return like_param(param, {"exp_avg", "exp_avg_sq"});
  }
  static lamb_dims params(const LAMB& s, const Shape& /*param*/) {
    return moment_dims<lamb_dims>(s);
  }
  static int64_t workspace(const ir::Params& params, int /*threads*/) {
    return lamb_update_workspace_bytes(params.as<lamb_dims>());
  }
  static constexpr bool elementwise = false;
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::lamb_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::lamb_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&lamb_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::lamb_update_impl

THIMBLE_OPTIMIZER_FOLDER(lamb_update) { return Update<LAMBRule>::folder(); }

namespace thimble {

void describe(LAMB& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v, {.weight_decay = "added to Adam's step, times the parameter"});
  v.field("maximize", a.maximize, "go up instead of down");
}

LAMB::operator Optimizer() const {
  return ops::Update<ops::lamb_update_impl::LAMBRule>::optimizer(*this);
}

}  // namespace thimble
