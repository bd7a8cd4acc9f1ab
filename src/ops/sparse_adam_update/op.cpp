#include <thimble/ops/sparse_adam_update.h>

#include "ops/families/update/adam_simd.h"
#include "ops/families/update/row_update.h"

#define THIMBLE_OP sparse_adam_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::sparse_adam_update_impl {
namespace {

struct SparseAdamRule {
  static constexpr const char* name = "sparse_adam_update";
  static constexpr const char* optimizer = "sparse_adam";
  static constexpr const char* type_name = "SparseAdam";
  static constexpr const char* doc =
      "SparseAdam of a whole tensor, in place: m += (1 - beta1) * (grad - m); v = beta2 * v + "
      "(1 - beta2) * grad^2; param -= lr * sqrt(1 - beta2^step) / (1 - beta1^step) * m / "
      "(sqrt(v) + epsilon).";
  static constexpr const char* rows_name = "sparse_adam_rows_update";
  static constexpr const char* rows_doc =
      "SparseAdam: the rule for the rows that have a gradient; the moments of the others stay as "
      "they are. Equal to torch.optim.SparseAdam.";
  using Settings = SparseAdam;
  static void check(const SparseAdam& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr}, {"epsilon", s.epsilon}});
    checks.below_one({{"beta1", s.beta1}, {"beta2", s.beta2}});
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"exp_avg", "the shape of param"},
                                          {"exp_avg_sq", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const SparseAdam& /*s*/, const Shape& param) {
    return like_param(param, {"exp_avg", "exp_avg_sq"});
  }
  static adam_dims params(const SparseAdam& s, const Shape& /*param*/) {
    adam_dims d{};
    d.maximize = s.maximize ? 1 : 0;
    d.biased_root = 1;
    d.beta1 = s.beta1;
    d.beta2 = s.beta2;
    d.epsilon = s.epsilon;
    return d;
  }
  static const char* reaches_all_rows(const SparseAdam& /*s*/) { return ""; }
  static const OpDef& by_rows() { return RowUpdate<SparseAdamRule>::op(); }

  // Without Adam's third state.
  template <class Real>
  static void run_ref(Real* const* out, const Real* param, const Real* grad, const Real* lr,
                      const int32_t* step, const Real* m, const Real* v, const adam_dims* d) {
    if constexpr (std::is_same_v<Real, float>) {
      f32::adam_ref(out, param, grad, lr, step, m, v, nullptr, d);
    } else {
      f64::adam_ref(out, param, grad, lr, step, m, v, nullptr, d);
    }
  }
  static void run_fast(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m, const float* v, const adam_dims* d,
                       parallel::ThreadPool& pool) {
    adam_simd(out, param, grad, lr, step, m, v, nullptr, d, pool);
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&run_ref<float>>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&run_ref<double>>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&run_fast>();
};

}  // namespace
}  // namespace thimble::ops::sparse_adam_update_impl

THIMBLE_OPTIMIZER_FOLDER(sparse_adam_update) { return Update<SparseAdamRule>::folder(); }

namespace thimble {

void describe(SparseAdam& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the first moment that is kept");
  v.field("beta2", a.beta2, "share of the second moment that is kept");
  v.field("epsilon", a.epsilon, "added to the root of the second moment, biased as it is");
  v.field("maximize", a.maximize, "go up instead of down");
}

SparseAdam::operator Optimizer() const {
  return ops::Update<ops::sparse_adam_update_impl::SparseAdamRule>::optimizer(*this);
}

}  // namespace thimble
