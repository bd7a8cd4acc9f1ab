#include <thimble/ops/muon_update.h>

#include <algorithm>
#include <cmath>

#include "ops/families/conv/row_tasks.h"
#include "ops/families/kernel/ref.h"
#include "ops/families/update/adam_simd.h"
#include "ops/families/update/update.h"
#include "ops/muon_update/dims.h"
#include "simd/gemm.h"
#include "simd/workspace.h"

#define THIMBLE_OP muon_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::muon_update_impl {
namespace {

simd::GemmSizes gram_sizes(const muon_dims& d) {
  return {.m = muon_low(&d), .n = muon_low(&d), .k = muon_high(&d), .transpose_b = true};
}
simd::GemmSizes square_sizes(const muon_dims& d) {
  return {.m = muon_low(&d), .n = muon_low(&d), .k = muon_low(&d)};
}
simd::GemmSizes step_sizes(const muon_dims& d) {
  return {.m = muon_low(&d), .n = muon_high(&d), .k = muon_low(&d)};
}

int64_t scratch_bytes(const muon_dims& d) {
  return simd::round_up(muon_scratch(&d) * static_cast<int64_t>(sizeof(float)), simd::kAlignment);
}

// Calls part(begin, end) for tiles of n elements, which do not depend on the number of threads.
template <class Part>
void over_tiles(parallel::ThreadPool& pool, int64_t n, const Part& part) {
  constexpr int64_t kTile = 1 << 14;
  pool.run(simd::divide_up(n, kTile),
           [&](int64_t tile) { part(tile * kTile, std::min(n, (tile + 1) * kTile)); });
}

// y = a x + b y, element by element.
void blend(float* y, const float* x, float a, float b, int64_t n, parallel::ThreadPool& pool) {
  over_tiles(pool, n, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = a * x[i] + b * y[i];
  });
}

// Writes the momentum to out[1] and the direction of the step, not yet orthogonal, to x, [low,
// high]. Returns its norm.
double start(float* x, float* const* out, const float* grad, const float* buffer,
             const muon_dims& d, parallel::ThreadPool& pool) {
  const auto momentum = static_cast<float>(d.momentum);
  const bool tall = d.rows > d.columns;
  for_each_row(pool, d.rows, d.columns, [&](int64_t row) {
    float* const to = tall ? x + row : x + row * d.columns;
    const int64_t stride = tall ? d.rows : 1;
    const int64_t first = row * d.columns;
    for (int64_t j = 0; j < d.columns; ++j) {
      const float g = grad[first + j];
      const float kept = buffer[first + j] + (1.0F - momentum) * (g - buffer[first + j]);
      out[1][first + j] = kept;
      to[j * stride] = d.nesterov != 0 ? g + momentum * (kept - g) : kept;
    }
  });
  double squares = 0.0;
  for (int64_t i = 0; i < d.n; ++i) squares += static_cast<double>(x[i]) * x[i];
  return std::max(std::sqrt(squares), d.epsilon);
}

void matrix(float* const* out, const float* param, const float* grad, float lr, const float* buffer,
            void* workspace, const muon_dims& d, parallel::ThreadPool& pool) {
  auto* x = static_cast<float*>(workspace);
  float* y = x + d.n;
  float* const gram = y + d.n;
  const int64_t corner = int64_t{muon_low(&d)} * muon_low(&d);
  float* const square = gram + corner;
  void* const scratch = static_cast<char*>(workspace) + scratch_bytes(d);
  const double norm = start(x, out, grad, buffer, d, pool);
  over_tiles(pool, d.n, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x[i] *= static_cast<float>(1.0 / norm);
  });
  for (int step = 0; step < d.steps; ++step) {
    simd::gemm(gram, x, x, nullptr, scratch, gram_sizes(d), pool);
    simd::gemm(square, gram, gram, nullptr, scratch, square_sizes(d), pool);
    blend(square, gram, static_cast<float>(d.b), static_cast<float>(d.c), corner, pool);
    simd::gemm(y, square, x, nullptr, scratch, step_sizes(d), pool);
    blend(y, x, static_cast<float>(d.a), 1.0F, d.n, pool);
    std::swap(x, y);
  }
  const auto shrink = static_cast<float>(1.0 - static_cast<double>(lr) * d.weight_decay);
  const auto rate = static_cast<float>(static_cast<double>(lr) * d.ratio);
  const bool tall = d.rows > d.columns;
  for_each_row(pool, d.rows, d.columns, [&](int64_t row) {
    const float* const from = tall ? x + row : x + row * d.columns;
    const int64_t stride = tall ? d.rows : 1;
    for (int64_t j = 0; j < d.columns; ++j) {
      const int64_t i = row * d.columns + j;
      out[0][i] = shrink * param[i] - rate * from[j * stride];
    }
  });
}

void fast(float* const* out, const float* param, const float* grad, const float* lr,
          const int32_t* step, const float* first, const float* second, void* workspace,
          const muon_dims* d, parallel::ThreadPool& pool) {
  if (d->n == 0) return;
  if (d->rows > 0) {
    matrix(out, param, grad, *lr, first, workspace, *d, pool);
    return;
  }
  adam_dims adamw = d->adamw;
  adamw.n = d->n;
  const auto rate = static_cast<float>(static_cast<double>(*lr) * d->adamw_share);
  adam_simd(out, param, grad, &rate, step, first, second, nullptr, &adamw, pool);
}

struct MuonRule {
  static constexpr const char* name = "muon_update";
  static constexpr const char* optimizer = "muon";
  static constexpr const char* doc =
      "Muon, in place. A matrix: b = momentum * b + (1 - momentum) * grad; u = (1 - momentum) * "
      "grad + momentum * b (b without nesterov); X = u / |u|, ns_steps times X = ns_a X + (ns_b A "
      "+ ns_c A^2) X with A = X X^T; param = (1 - lr * weight_decay) * param - lr * sqrt(max(1, "
      "rows / columns)) * X. Anything else: a step of AdamW at lr * adamw_lr / (lr of the "
      "settings).";
  using Settings = Muon;
  static void check(const Muon& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr},
                         {"weight_decay", s.weight_decay},
                         {"epsilon", s.epsilon},
                         {"adamw_lr", s.adamw_lr},
                         {"adamw_epsilon", s.adamw_epsilon},
                         {"adamw_weight_decay", s.adamw_weight_decay}});
    checks.below_one(
        {{"momentum", s.momentum}, {"adamw_beta1", s.adamw_beta1}, {"adamw_beta2", s.adamw_beta2}});
    checks.require(s.ns_steps >= 1 && s.ns_steps < 100, "ns_steps must be 1 to 99",
                   static_cast<double>(s.ns_steps));
    for (const double number : {s.ns_a, s.ns_b, s.ns_c}) {
      checks.require(std::isfinite(number), "ns_a, ns_b and ns_c must be finite", number);
    }
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {
        {"momentum_buffer", "of a matrix; else exp_avg; the shape of param"},
        {"exp_avg_sq", "the shape of param; a matrix has none", true}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const Muon& /*s*/, const Shape& param) {
    if (param.rank() == 2) return like_param(param, {"momentum_buffer"});
    return like_param(param, {"exp_avg", "exp_avg_sq"});
  }
  static muon_dims params(const Muon& s, const Shape& param) {
    muon_dims d{};
    if (param.rank() == 2 && param.elements() > 0) {
      d.rows = static_cast<int>(param[0]);
      d.columns = static_cast<int>(param[1]);
      const auto rows = static_cast<double>(d.rows);
      const auto columns = static_cast<double>(d.columns);
      d.ratio = s.match_rms_adamw ? 0.2 * std::sqrt(std::max(rows, columns))
                                  : std::sqrt(std::max(1.0, rows / columns));
    }
    d.nesterov = s.nesterov ? 1 : 0;
    d.steps = static_cast<int>(s.ns_steps);
    d.momentum = s.momentum;
    d.weight_decay = s.weight_decay;
    d.epsilon = s.epsilon;
    d.a = s.ns_a;
    d.b = s.ns_b;
    d.c = s.ns_c;
    d.adamw.decoupled = 1;
    d.adamw.beta1 = s.adamw_beta1;
    d.adamw.beta2 = s.adamw_beta2;
    d.adamw.epsilon = s.adamw_epsilon;
    d.adamw.weight_decay = s.adamw_weight_decay;
    d.adamw_share = s.lr > 0.0 ? s.adamw_lr / s.lr : 0.0;
    return d;
  }
  static int64_t workspace(const ir::Params& params, int threads) {
    const auto d = params.as<muon_dims>();
    if (d.rows == 0) return 0;
    int64_t products = 0;
    for (const auto& sizes : {gram_sizes(d), square_sizes(d), step_sizes(d)}) {
      products = std::max(products, simd::gemm_workspace_bytes(sizes, threads));
    }
    return scratch_bytes(d) + products;
  }
  static constexpr bool elementwise = false;
  static constexpr const char* momentum_name = "momentum";
  static constexpr double muon_dims::*momentum = &muon_dims::momentum;
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::muon_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::muon_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&muon_update_impl::fast>();
};

}  // namespace
}  // namespace thimble::ops::muon_update_impl

THIMBLE_OPTIMIZER_FOLDER(muon_update) { return Update<MuonRule>::folder(); }

namespace thimble {

void describe(Muon& s, ir::FieldVisitor& v) {
  v.field("lr", s.lr, "learning rate of matrices without a schedule; a step takes its input");
  v.field("weight_decay", s.weight_decay, "pull of matrices towards zero");
  v.field("momentum", s.momentum, "share of the average gradient that is kept");
  v.field("nesterov", s.nesterov, "the step looks ahead along the momentum");
  v.field("ns_a", s.ns_a, "first coefficient of the Newton-Schulz iteration");
  v.field("ns_b", s.ns_b, "second coefficient");
  v.field("ns_c", s.ns_c, "third coefficient");
  v.field("ns_steps", s.ns_steps, "steps of the iteration, 1 to 99");
  v.field("epsilon", s.epsilon, "the least norm that the iteration divides by");
  v.field("match_rms_adamw", s.match_rms_adamw, "steps of the size of AdamW's");
  v.field("adamw_lr", s.adamw_lr, "learning rate of what is no matrix; follows the schedule of lr");
  v.field("adamw_beta1", s.adamw_beta1, "of it, share of the first moment that is kept");
  v.field("adamw_beta2", s.adamw_beta2, "of it, share of the second moment that is kept");
  v.field("adamw_epsilon", s.adamw_epsilon, "of it, added to the root of the second moment");
  v.field("adamw_weight_decay", s.adamw_weight_decay, "of it, pull towards zero");
}

Muon::operator Optimizer() const {
  return ops::Update<ops::muon_update_impl::MuonRule>::optimizer(*this);
}

}  // namespace thimble
