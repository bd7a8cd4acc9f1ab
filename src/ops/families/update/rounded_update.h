// Applies an optimizer's rule to whole numbers: the int8 weights and int32 biases of a quantized
// network. The rule says by how much a number is to change; the change is rounded at random, up
// with the probability of its fractional part, so that its mean is the change that was wanted. Of
// one sign and size, changes move in the same way however small they are; a change of 0 moves
// nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/families/random/random.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

namespace thimble::ops {

// The attributes of such an op.
template <class Settings>
struct RoundedAttrs {
  Settings settings;
  int64_t stream = 0;  // number of the random stream
};
template <class Settings>
void describe(RoundedAttrs<Settings>& a, ir::FieldVisitor& v) {
  describe(a.settings, v);
  v.field("stream", a.stream, "number of the random stream");
}

// By how much a change moves a number: word / 2^32 is drawn from [0, 1).
[[nodiscard]] inline int64_t rounded_change(double change, uint32_t word) {
  constexpr double kMost = 0x1p33;  // more than any number that moves
  if (!(std::abs(change) > 0.0)) return 0;
  const double size = std::min(std::abs(change), kMost);
  const double whole = std::floor(size);
  const bool up = static_cast<double>(word) < (size - whole) * 0x1p32;
  const int64_t steps = static_cast<int64_t>(whole) + (up ? 1 : 0);
  return change < 0.0 ? -steps : steps;
}

// The definition of the op that T's rule of whole numbers is, for a T of Update whose formula looks
// at one element at a time, whose states are f32 of the parameter's shape, and whose change does
// not depend on the parameter but by the setting weight_decay. Of T besides:
//   rounded_name
//   bool shrinks(const Settings&), optional: whether weight decay multiplies the parameter, in the
//     place of being added to the gradient
template <class T>
struct RoundedUpdate {
  using Settings = typename T::Settings;
  using Attrs = RoundedAttrs<Settings>;
  using RuleParams = decltype(T::params(std::declval<const Settings&>(), std::declval<Shape>()));

  static const OpDef& op() {
    static const OpDef def = make();
    return def;
  }
  static ir::IntegerRule rule() {
    return {.update = &op(), .update_attrs = [](const ir::Attrs& settings, int64_t stream) {
              return ir::Attrs::of(Attrs{settings.as<Settings>(), stream});
            }};
  }

 private:
  enum Input { kRng, kParam, kGrad, kRate, kStep, kFirstState };
  static constexpr int kRuleFirstState = 4;
  static constexpr int kMostStates = 4;
  static constexpr int64_t kChunk = 1024;  // elements; whole blocks of random words

  struct Params {
    int64_t n;
    int32_t states;  // that the rule keeps
    uint32_t stream;
    int32_t is_wide;  // i32, else i8
    int32_t shrinks;
    double decay;  // times the parameter
    RuleParams rule;
  };

  static OpDef make() {
    ir::ArgDoc rng = rng_argument();
    rng.types = DType::u32;
    OpDef def{
        .name = T::rounded_name,
        .signature{
            .doc = "The rule for whole numbers: its change is rounded at random, up with the "
                   "probability of the fractional part, and what leaves the type stays at its end. "
                   "Random numbers are Philox 4x32-10, keyed by seed, step and stream.",
            .inputs = {rng,
                       {.name = "param",
                        .doc = "any shape: a parameter",
                        .types = {DType::i8, DType::i32}},
                       {.name = "grad", .doc = "the shape of param", .types = DType::f32},
                       {.name = "lr",
                        .doc = "one number: the learning rate of this step",
                        .types = DType::f32},
                       {.name = "step",
                        .doc = "this update's number, from 1; 0: nothing is updated",
                        .types = DType::i32}},
            .outputs = {{"param", "the same memory, updated"}},
            .attrs = ir::Attrs::schema_of<Attrs>(),
        },
        .infer = infer,
        .kernels{
            .params = params,
            .ref = one_by_one<float>,
            .ref64 = one_by_one<double>,
            .fast = in_chunks,
            .any_type = true,
        },
        .memory{.updates = {{0, kParam}}},
        .flow{.reads_rng = true},
    };
    int number = 0;
    for (ir::ArgDoc state : T::state_docs()) {
      state.types = DType::f32;
      state.optional = true;
      def.signature.inputs.push_back(state);
      def.signature.outputs.push_back(state);
      def.memory.updates.push_back({1 + number, kFirstState + number});
      ++number;
    }
    return def;
  }

  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    const auto& attrs = c.attrs.as<Attrs>();
    T::check(attrs.settings, SettingChecks(T::optimizer));
    require_rng(c, attrs.stream);
    const Shape& shape = c.shape(kParam);
    c.require(c.shape(kGrad) == shape, "expected a gradient of the parameter's shape");
    c.require(c.shape(kRate).rank() == 0, "expected one number as the learning rate");
    c.require(c.shape(kStep).rank() == 0, "expected one number as the step");
    const std::vector<ir::StateSpec> wanted = T::states(attrs.settings, shape);
    int given = 0;
    while (c.has(kFirstState + given)) ++given;
    c.require(static_cast<size_t>(given) == wanted.size(),
              fmt::format("these options need {} state tensors, got {}", wanted.size(), given));
    std::vector<ir::TensorType> types{c.input(kParam)};
    for (size_t i = 0; i < wanted.size(); ++i) {
      const ir::TensorType& type = wanted[i].type;
      c.require(type == ir::TensorType{DType::f32, shape},
                fmt::format("{} must be f32 of the parameter's shape; set state_bits to 32",
                            wanted[i].name));
      c.require(c.input(kFirstState + static_cast<int>(i)) == type,
                fmt::format("expected {} of type {}", wanted[i].name, to_string(type)));
      types.push_back(type);
    }
    return types;
  }

  static ir::Params params(const ir::KernelContext& c) {
    const auto& attrs = c.attrs.as<Attrs>();
    Settings settings = attrs.settings;
    settings.weight_decay = 0.0;
    Params p{};
    p.n = c.out().elements();
    p.states = static_cast<int32_t>(T::states(attrs.settings, c.out()).size());
    p.stream = static_cast<uint32_t>(attrs.stream);
    p.is_wide = c.outputs[0].dtype == DType::i32 ? 1 : 0;
    if constexpr (requires { T::shrinks(settings); }) p.shrinks = T::shrinks(settings) ? 1 : 0;
    // A rule that goes up turns the whole gradient around.
    const bool turns = p.shrinks == 0 && settings.maximize;
    p.decay = turns ? -attrs.settings.weight_decay : attrs.settings.weight_decay;
    p.rule = T::params(settings, c.out());
    return p;
  }

  template <class Number>
  static void move(Number* numbers, const Params& p, int64_t first, int64_t count,
                   const uint32_t* rng, const double* changes) {
    constexpr auto kLow = static_cast<int64_t>(std::numeric_limits<Number>::min());
    constexpr auto kHigh = static_cast<int64_t>(std::numeric_limits<Number>::max());
    philox_block block{};
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = first + i;
      if (at % 4 == 0) block = philox_at(rng, p.stream, static_cast<uint32_t>(at / 4));
      const int64_t moved = int64_t{numbers[at]} + rounded_change(changes[i], block.v[at % 4]);
      numbers[at] = static_cast<Number>(std::clamp(moved, kLow, kHigh));
    }
  }

  // The elements [first, first + count) of a tensor: the rule changes zeros.
  template <class Real>
  static void run_chunk(const ir::KernelCall& call, const Params& p, int64_t first, int64_t count) {
    constexpr ir::KernelFn kRule = std::is_same_v<Real, float> ? T::ref : T::ref64;
    const double rate = static_cast<double>(*static_cast<const Real*>(call.inputs[kRate]));
    const auto number_at = [&](int64_t at) {
      return p.is_wide != 0 ? static_cast<double>(static_cast<const int32_t*>(call.outputs[0])[at])
                            : static_cast<double>(static_cast<const int8_t*>(call.outputs[0])[at]);
    };
    Real grad[kChunk];
    Real change[kChunk];
    const auto* const given = static_cast<const Real*>(call.inputs[kGrad]) + first;
    const bool adds = p.decay != 0.0 && p.shrinks == 0;
    for (int64_t i = 0; i < count; ++i) {
      change[i] = 0;
      grad[i] =
          adds ? static_cast<Real>(static_cast<double>(given[i]) + p.decay * number_at(first + i))
               : given[i];
    }
    void* outputs[1 + kMostStates] = {change};
    const void* inputs[kRuleFirstState + kMostStates + 1] = {change, grad, call.inputs[kRate],
                                                             call.inputs[kStep]};
    for (int s = 0; s < p.states; ++s) {
      Real* const state = static_cast<Real*>(call.outputs[1 + s]) + first;
      outputs[1 + s] = state;
      inputs[kRuleFirstState + s] = state;
    }
    RuleParams rule = p.rule;
    rule.n = static_cast<int>(count);
    kRule({outputs, inputs, nullptr, &rule, kRuleFirstState + p.states, 1 + p.states, nullptr});
    double changes[kChunk];
    for (int64_t i = 0; i < count; ++i) {
      const double shrink = p.shrinks != 0 ? rate * p.decay * number_at(first + i) : 0.0;
      changes[i] = static_cast<double>(change[i]) - shrink;
    }
    const auto* const rng = static_cast<const uint32_t*>(call.inputs[kRng]);
    if (p.is_wide != 0) {
      move(static_cast<int32_t*>(call.outputs[0]), p, first, count, rng, changes);
    } else {
      move(static_cast<int8_t*>(call.outputs[0]), p, first, count, rng, changes);
    }
  }

  static bool is_skipped(const ir::KernelCall& call) {
    return *static_cast<const int32_t*>(call.inputs[kStep]) == 0;
  }

  template <class Real>
  static void one_by_one(const ir::KernelCall& call) {
    const auto& p = *static_cast<const Params*>(call.params);
    if (is_skipped(call)) return;
    for (int64_t first = 0; first < p.n; first += kChunk) {
      run_chunk<Real>(call, p, first, std::min(kChunk, p.n - first));
    }
  }

  static void in_chunks(const ir::KernelCall& call) {
    const auto& p = *static_cast<const Params*>(call.params);
    if (is_skipped(call)) return;
    call.pool->run(simd::divide_up(p.n, kChunk), [&](int64_t task) {
      run_chunk<float>(call, p, task * kChunk, std::min(kChunk, p.n - task * kChunk));
    });
  }
};

}  // namespace thimble::ops
