// Applies an optimizer's rule to some rows of a parameter and its states, for gradients that are
// zero in all other rows (ir::GivenRows). It calls the rule's own kernels.
#pragma once

#include <algorithm>

#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

namespace thimble::ops {

// The definition of the op that T's rule by rows is, for a T of Update whose formula looks at one
// element at a time and whose states have the parameter's shape. Of T besides:
//   rows_name, rows_doc
//   const char* reaches_all_rows(const Settings&): see ir::OptimizerRule
template <class T>
struct RowUpdate {
  using Settings = typename T::Settings;
  using RuleParams = decltype(T::params(std::declval<const Settings&>(), std::declval<Shape>()));

  static const OpDef& op() {
    static const OpDef def = make();
    return def;
  }

 private:
  static constexpr int kRows = 2;  // index of the input that holds row numbers
  static constexpr int kRate = 3;
  static constexpr int kFirstState = 5;
  static constexpr int kRuleFirstState = 4;
  static constexpr int kMaxStates = 4;
  // Elements per call of the rule's fast kernel: enough to outweigh the fixed cost of a call, and
  // one task for every rule.
  static constexpr int64_t kChunk = 2048;

  struct Params {
    int count;   // most rows with a gradient
    int width;   // width of a row
    int states;  // states that the rule keeps
    RuleParams rule;
  };

  static OpDef make() {
    OpDef def{
        .name = T::rows_name,
        .signature{
            .doc = T::rows_doc,
            .inputs = {{"param", "[V, D]: a parameter"},
                       {"sums", "[N, D]: the rows of its gradient"},
                       {.name = "rows",
                        .doc = "[N]: their numbers, each once, then -1",
                        .types = DType::i32},
                       kRateInput,
                       kStepInput},
            .outputs = {{"param", "the same memory, updated in these rows"}},
            .attrs = ir::Attrs::schema_of<Settings>(),
        },
        .infer = infer,
        .kernels{
            .params = params,
            .workspace = workspace,
            .ref = one_by_one<float>,
            .ref64 = one_by_one<double>,
            .fast = in_chunks,
        },
        .memory{.updates = {{0, 0}}},
    };
    std::vector<ir::ArgDoc> states(T::state_docs().begin(), T::state_docs().end());
    for (ir::ArgDoc& state : states) state.types = DType::f32;
    add_states(def, states);
    return def;
  }

  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    T::check(c.attrs.as<Settings>(), SettingChecks(T::optimizer));
    const std::string reaching = T::reaches_all_rows(c.attrs.as<Settings>());
    c.require(reaching.empty(), reaching + " reaches rows without a gradient");
    c.require_rank(0, 2);
    c.require_rank(1, 2);
    c.require(c.shape(1)[1] == c.shape(0)[1], "expected rows as long as the parameter's");
    c.require(c.shape(kRows) == Shape{c.shape(1)[0]}, "expected the number of each row");
    require_rate_and_step(c, kRate);
    return Update<T>::state_types(c, kFirstState);
  }

  static ir::Params params(const ir::KernelContext& c) {
    const auto& settings = c.attrs.as<Settings>();
    const Shape row{c.in(1)[1]};
    return Params{.count = static_cast<int>(c.in(1)[0]),
                  .width = static_cast<int>(row[0]),
                  .states = static_cast<int>(c.inputs.size()) - kFirstState,
                  .rule = T::params(settings, row)};
  }

  static int64_t workspace(const ir::Params& params, int threads) {
    return threads * worker_bytes(params.as<Params>());
  }
  static int64_t worker_bytes(const Params& p) {
    return (1 + p.states) * kChunk * static_cast<int64_t>(sizeof(float));
  }

  // Calls the rule's kernel for single elements: grad, and the memory of the parameter and its
  // states.
  template <class Real>
  struct RuleCall {
    RuleCall(const ir::KernelCall& call, const Params& p) : rule(p.rule), outer(call) {
      inputs[2] = call.inputs[kRate];
      inputs[3] = call.inputs[kRate + 1];
    }
    void set(int tensor, Real* memory) {
      outputs[tensor] = memory;
      inputs[tensor == 0 ? 0 : kRuleFirstState + tensor - 1] = memory;
    }
    void run(ir::KernelFn kernel, const Real* grad, int64_t n, int states) {
      inputs[1] = grad;
      rule.n = static_cast<int>(n);
      kernel({outputs, inputs, nullptr, &rule, kRuleFirstState + states, 1 + states, outer.pool});
    }

    RuleParams rule;
    const ir::KernelCall& outer;
    void* outputs[1 + kMaxStates] = {};
    const void* inputs[kRuleFirstState + kMaxStates] = {};
  };

  static bool is_skipped(const ir::KernelCall& call) {
    return *static_cast<const int32_t*>(call.inputs[kRate + 1]) == 0;
  }

  template <class Real>
  static void one_by_one(const ir::KernelCall& call) {
    constexpr ir::KernelFn kRule = std::is_same_v<Real, float> ? T::ref : T::ref64;
    const auto& p = *static_cast<const Params*>(call.params);
    if (is_skipped(call)) return;
    const auto* const rows = static_cast<const int32_t*>(call.inputs[kRows]);
    const auto* const sums = static_cast<const Real*>(call.inputs[1]);
    RuleCall<Real> inner(call, p);
    for (int slot = 0; slot < p.count && rows[slot] >= 0; ++slot) {
      const int64_t begin = int64_t{rows[slot]} * p.width;
      for (int t = 0; t <= p.states; ++t) inner.set(t, static_cast<Real*>(call.outputs[t]) + begin);
      inner.run(kRule, sums + int64_t{slot} * p.width, p.width, p.states);
    }
  }

  // Gathers rows, runs the rule on them, and scatters the results. A chunk is several rows, or a
  // part of a long row.
  static void in_chunks(const ir::KernelCall& call) {
    const auto& p = *static_cast<const Params*>(call.params);
    if (p.width == 0 || is_skipped(call)) return;
    const auto* const rows = static_cast<const int32_t*>(call.inputs[kRows]);
    const auto* const sums = static_cast<const float*>(call.inputs[1]);
    const int64_t columns = std::min<int64_t>(p.width, kChunk);
    const int64_t parts = simd::divide_up(p.width, columns);
    const int64_t slots = kChunk / columns;
    call.pool->run_with_worker(
        simd::divide_up(p.count, slots) * parts, [&](int64_t task, int worker) {
          const int64_t first = task / parts * slots;
          const int64_t last = std::min<int64_t>(p.count, first + slots);
          const int64_t begin = task % parts * columns;
          const int64_t width = std::min(columns, p.width - begin);
          int64_t end = first;
          while (end < last && rows[end] >= 0) ++end;
          if (end == first) return;
          auto* const scratch = reinterpret_cast<float*>(static_cast<std::byte*>(call.workspace) +
                                                         worker * worker_bytes(p));
          RuleCall<float> inner(call, p);
          for (int t = 0; t <= p.states; ++t) {
            const auto* const whole = static_cast<const float*>(call.outputs[t]);
            float* const piece = scratch + t * kChunk;
            for (int64_t slot = first; slot < end; ++slot) {
              const float* const row = whole + int64_t{rows[slot]} * p.width + begin;
              std::copy(row, row + width, piece + (slot - first) * width);
            }
            inner.set(t, piece);
          }
          inner.run(T::fast, sums + first * p.width + begin, (end - first) * width, p.states);
          for (int t = 0; t <= p.states; ++t) {
            auto* const whole = static_cast<float*>(call.outputs[t]);
            const float* const piece = scratch + t * kChunk;
            for (int64_t slot = first; slot < end; ++slot) {
              const float* const from = piece + (slot - first) * width;
              std::copy(from, from + width, whole + int64_t{rows[slot]} * p.width + begin);
            }
          }
        });
  }
};

}  // namespace thimble::ops
