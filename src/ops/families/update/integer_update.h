// Applies an optimizer's rule to whole numbers: the int8 weights and int32 biases of a quantized
// network. The rule says by how much the real number that each stands for is to change. In steps of
// whole numbers the change has a fractional part, for which there are two ways:
// - It is rounded at random, up with the probability of its fractional part, so that its mean is
//   the change that was wanted.
// - It is rounded to nearest, and the rest waits in a residual for the next update.
// Of one sign and size, changes move in the same way however small they are; a change of 0 moves
// nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ops/families/random/random.h"
#include "ops/families/update/block_codes.h"
#include "ops/families/update/part.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

namespace thimble::ops {

// The attributes of such an op.
template <class Settings>
struct IntegerUpdateAttrs {
  Settings settings;
  int64_t stream = 0;  // number of the random stream, where changes are rounded so
  // The part of the parameter that is trained (ir::TrainedPart). Its numbers are rounded with the
  // random numbers that they have where all of the parameter is trained.
  int64_t axis = 0;
  std::vector<int64_t> indices = {};

  [[nodiscard]] ir::TrainedPart part() const { return {static_cast<int>(axis), indices}; }
};
template <class Settings>
void describe(IntegerUpdateAttrs<Settings>& a, ir::FieldVisitor& v) {
  describe(a.settings, v);
  v.field("stream", a.stream, "number of the random stream, where changes are rounded so");
  v.field("axis", a.axis, "of the parameter, where some slices are trained");
  v.field("indices", a.indices, "their places along the axis, rising; none: all are trained");
}

// More than any number that moves.
inline constexpr double kMostChange = 0x1p33;

// By how much a change moves a number: word / 2^32 is drawn from [0, 1).
[[nodiscard]] inline int64_t rounded_change(double change, uint32_t word) {
  if (!(std::abs(change) > 0.0)) return 0;
  const double size = std::min(std::abs(change), kMostChange);
  const double whole = std::floor(size);
  const bool up = static_cast<double>(word) < (size - whole) * 0x1p32;
  const int64_t steps = static_cast<int64_t>(whole) + (up ? 1 : 0);
  return change < 0.0 ? -steps : steps;
}

// The same to nearest, with what earlier changes left. residual: in units of 2^-16.
[[nodiscard]] inline int64_t change_with_residual(double change, int16_t& residual) {
  if (std::isnan(change)) return 0;
  const double wanted = std::clamp(change, -kMostChange, kMostChange) + residual * 0x1p-16;
  const double whole = std::nearbyint(wanted);
  const double rest = std::nearbyint((wanted - whole) * 0x1p16);
  residual = static_cast<int16_t>(std::min(rest, 32767.0));
  return static_cast<int64_t>(whole);
}

// The definition of the op that T's rule of whole numbers is, for a T of Update whose formula looks
// at one element at a time, whose states are of the parameter's shape or codes of it in blocks
// (block_codes.h), and whose change does not depend on the parameter but by the setting
// weight_decay. Of T besides:
//   rounded_name, residual_name: of the op without and with a residual
//   bool shrinks(const Settings&), optional: whether weight decay multiplies the parameter, in the
//     place of being added to the gradient
//   void resize(Params&, int n), optional: makes parameters those of n elements, where this changes
//     more than the field `n`
template <class T, bool kHasResidual>
struct IntegerUpdate {
  using Settings = typename T::Settings;
  using Attrs = IntegerUpdateAttrs<Settings>;
  using RuleParams = decltype(T::params(std::declval<const Settings&>(), std::declval<Shape>()));

  static const OpDef& op() {
    static const OpDef def = make();
    return def;
  }

 private:
  enum Input { kRng, kResidual = kRng, kParam, kGrad, kRate, kStep, kUnits, kFirstState };
  static constexpr int kResidualResult = 1;
  static constexpr int kFirstStateResult = kHasResidual ? 2 : 1;
  static constexpr int kRuleFirstState = 4;
  static constexpr int kMostStates = 4;
  static constexpr int64_t kChunk = 1024;  // elements; whole blocks of random words and of codes
  static_assert(kChunk % BLOCK_ELEMENTS == 0);

  // How the memory of a state goes with elements of the parameter.
  struct StateWalk {
    int32_t is_code;   // one byte, else a real number
    int32_t elements;  // of the parameter for each entry
  };
  struct Params {
    int64_t n;  // elements that are trained
    PartDims part;
    int64_t unit_run;  // elements in a row that have one unit
    int64_t units;     // 0: a number stands for itself
    int32_t states;    // that the rule keeps
    uint32_t stream;
    int32_t is_wide;  // i32, else i8
    int32_t shrinks;
    double decay;  // times the parameter
    StateWalk walks[kMostStates];
    RuleParams rule;
  };

  static ir::ArgDoc first_argument() {
    if constexpr (kHasResidual) {
      return {.name = "residual",
              .doc = "the shape of param: what earlier changes left, in units of 2^-16",
              .types = DType::i16};
    } else {
      ir::ArgDoc rng = rng_argument();
      rng.types = DType::u32;
      return rng;
    }
  }

  static constexpr const char* kDoc =
      kHasResidual
          ? "The rule for whole numbers: its change is rounded to nearest and the rest is kept for "
            "the next update; what leaves the type stays at its end."
          : "The rule for whole numbers: its change is rounded at random, up with the probability "
            "of the fractional part, and what leaves the type stays at its end. Random numbers are "
            "Philox 4x32-10, keyed by seed, step and stream.";

  static OpDef make() {
    ir::ArgDoc rate = kRateInput;
    rate.types = DType::f32;
    OpDef def{
        .name = kHasResidual ? T::residual_name : T::rounded_name,
        .signature{
            .doc = kDoc,
            .inputs = {first_argument(),
                       {.name = "param",
                        .doc = "any shape: a parameter",
                        .types = {DType::i8, DType::i32}},
                       {.name = "grad",
                        .doc = "the shape of param, or of the part that is trained: the derivative "
                               "by the integers",
                        .types = DType::f32},
                       rate,
                       kStepInput,
                       {.name = "units",
                        .doc = "[], or the shape of param with 1 for all axes but one: the real "
                               "numbers that 1 stands for, for which the rule then is; left out: "
                               "the integers themselves",
                        .optional = true,
                        .types = DType::f32}},
            .outputs = {{"param", "the same memory, updated"}},
            .attrs = ir::Attrs::schema_of<Attrs>(),
        },
        .infer = infer,
        .kernels{
            .params = params,
            .ref = one_by_one<float>,
            // A residual says the last bits of a change, which differ between f32 and double.
            .ref64 = kHasResidual ? nullptr : one_by_one<double>,
            .fast = in_chunks,
            .any_type = true,
        },
        .memory{.updates = {{0, kParam}}},
        .flow{.reads_rng = !kHasResidual},
        .optimizer{.states =
                       [](const ir::Attrs& attrs, const Shape& param) {
                         return T::states(attrs.as<Attrs>().settings, param);
                       }},
    };
    if constexpr (requires { T::state_bits_name; }) def.optimizer.state_bits = T::state_bits_name;
    if constexpr (kHasResidual) {
      def.signature.outputs.push_back({"residual", "the same memory, updated"});
      def.memory.updates.push_back({kResidualResult, kResidual});
    }
    std::vector<ir::ArgDoc> states(T::state_docs().begin(), T::state_docs().end());
    for (ir::ArgDoc& state : states) {
      if (state.types.empty()) state.types = DType::f32;
      state.optional = true;
    }
    add_states(def, states);
    if constexpr (!kHasResidual) def.integers.update = &IntegerUpdate<T, true>::op();
    return def;
  }

  // The axis along which units differ, -1 where there is one unit; none: they do not fit.
  static std::optional<int> unit_axis(const Shape& param, const Shape& units) {
    if (units.rank() == 0) return -1;
    if (units.rank() != param.rank()) return std::nullopt;
    int axis = -1;
    for (int i = 0; i < param.rank(); ++i) {
      if (units[i] == 1) continue;
      if (axis >= 0 || units[i] != param[i]) return std::nullopt;
      axis = i;
    }
    return axis;
  }

  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    const auto& attrs = c.attrs.as<Attrs>();
    T::check(attrs.settings, SettingChecks(T::optimizer));
    require_part(c, c.shape(kParam), attrs.part());
    const Shape shape = ir::part_shape(c.shape(kParam), attrs.part());
    std::vector<ir::TensorType> types{c.input(kParam)};
    if constexpr (kHasResidual) {
      c.require(c.shape(kResidual) == shape, "expected a residual of the parameter's shape");
      types.push_back(c.input(kResidual));
    } else {
      require_rng(c, attrs.stream);
    }
    c.require(c.shape(kGrad) == shape, "expected a gradient of the parameter's shape");
    require_rate_and_step(c, kRate);
    if (c.has(kUnits)) {
      c.require(unit_axis(shape, c.shape(kUnits)).has_value(),
                "expected one unit, or one for each index of an axis of the parameter");
    }
    const std::vector<ir::StateSpec> wanted = T::states(attrs.settings, shape);
    require_states(c, kFirstState, T::state_docs().size(), wanted);
    for (const ir::StateSpec& state : wanted) types.push_back(state.type);
    return types;
  }

  static ir::Params params(const ir::KernelContext& c) {
    const auto& attrs = c.attrs.as<Attrs>();
    Settings settings = attrs.settings;
    settings.weight_decay = 0.0;
    const Shape shape = ir::part_shape(c.out(), attrs.part());
    Params p{};
    p.n = shape.elements();
    p.part = part_dims(c.out(), attrs.part());
    p.stream = static_cast<uint32_t>(attrs.stream);
    p.is_wide = c.outputs[0].dtype == DType::i32 ? 1 : 0;
    if (c.has(kUnits)) {
      p.units = c.in(kUnits).elements();
      p.unit_run = 1;
      for (int i = *unit_axis(shape, c.in(kUnits)) + 1; i < shape.rank(); ++i) {
        p.unit_run *= shape[i];
      }
    }
    if constexpr (requires { T::shrinks(settings); }) p.shrinks = T::shrinks(settings) ? 1 : 0;
    // A rule that goes up turns the whole gradient around.
    const bool turns = p.shrinks == 0 && settings.maximize;
    p.decay = turns ? -attrs.settings.weight_decay : attrs.settings.weight_decay;
    for (const ir::StateSpec& state : T::states(attrs.settings, shape)) {
      p.walks[p.states++] = {state.type.dtype == DType::u8 ? 1 : 0,
                             state.type.shape == shape ? 1 : BLOCK_ELEMENTS};
    }
    p.rule = T::params(settings, shape);
    return with_indices(p, attrs.indices);
  }

  static double number_at(const ir::KernelCall& call, const Params& p, int64_t at) {
    return p.is_wide != 0 ? static_cast<double>(static_cast<const int32_t*>(call.outputs[0])[at])
                          : static_cast<double>(static_cast<const int8_t*>(call.outputs[0])[at]);
  }

  // The units of the elements [first, first + count).
  template <class Real>
  static void units_of(const ir::KernelCall& call, const Params& p, int64_t first, int64_t count,
                       double* to) {
    if (p.units == 0) {
      std::fill(to, to + count, 1.0);
      return;
    }
    const auto* const units = static_cast<const Real*>(call.inputs[kUnits]);
    int64_t unit = first / p.unit_run % p.units;
    int64_t left = p.unit_run - first % p.unit_run;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<double>(units[unit]);
      if (--left > 0) continue;
      left = p.unit_run;
      unit = unit + 1 < p.units ? unit + 1 : 0;
    }
  }

  // The changes of the elements [first, first + count), in whole numbers: the rule changes zeros.
  template <class Real>
  static void changes_of(const ir::KernelCall& call, const Params& p, int64_t first,
                         std::span<const int64_t> places, double* changes) {
    const auto count = static_cast<int64_t>(places.size());
    const auto number = [&](int64_t i) {
      return number_at(call, p, places[static_cast<size_t>(i)]);
    };
    constexpr ir::KernelFn kRule = std::is_same_v<Real, float> ? T::ref : T::ref64;
    double unit[kChunk];
    units_of<Real>(call, p, first, count, unit);
    Real grad[kChunk];
    Real change[kChunk];
    const auto* const given = static_cast<const Real*>(call.inputs[kGrad]) + first;
    const bool adds = p.decay != 0.0 && p.shrinks == 0;
    for (int64_t i = 0; i < count; ++i) {
      const double decay = adds ? p.decay * unit[i] * number(i) : 0.0;
      grad[i] = static_cast<Real>(static_cast<double>(given[i]) / unit[i] + decay);
      change[i] = 0;
    }
    void* outputs[1 + kMostStates] = {change};
    const void* inputs[kRuleFirstState + kMostStates + 1] = {change, grad, call.inputs[kRate],
                                                             call.inputs[kStep]};
    for (int s = 0; s < p.states; ++s) {
      const StateWalk& walk = p.walks[s];
      const int64_t bytes = walk.is_code != 0 ? 1 : static_cast<int64_t>(sizeof(Real));
      outputs[1 + s] = static_cast<std::byte*>(call.outputs[kFirstStateResult + s]) +
                       first / walk.elements * bytes;
      inputs[kRuleFirstState + s] = outputs[1 + s];
    }
    RuleParams rule = p.rule;
    if constexpr (requires { T::resize(rule, 0); }) {
      T::resize(rule, static_cast<int>(count));
    } else {
      rule.n = static_cast<int>(count);
    }
    kRule({outputs, inputs, nullptr, &rule, kRuleFirstState + p.states, 1 + p.states, nullptr});
    const double rate = static_cast<double>(*static_cast<const Real*>(call.inputs[kRate]));
    for (int64_t i = 0; i < count; ++i) {
      const double shrink = p.shrinks != 0 ? rate * p.decay * number(i) : 0.0;
      changes[i] = static_cast<double>(change[i]) / unit[i] - shrink;
    }
  }

  template <class Number>
  static void move(const ir::KernelCall& call, const Params& p, int64_t first,
                   std::span<const int64_t> places, const double* changes) {
    constexpr auto kLow = static_cast<int64_t>(std::numeric_limits<Number>::min());
    constexpr auto kHigh = static_cast<int64_t>(std::numeric_limits<Number>::max());
    auto* const numbers = static_cast<Number*>(call.outputs[0]);
    philox_block block{};
    int64_t drawn = -1;  // the number of the block
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t at = places[i];
      int64_t moved = numbers[at];
      if constexpr (kHasResidual) {
        auto* const residuals = static_cast<int16_t*>(call.outputs[kResidualResult]);
        moved += change_with_residual(changes[i], residuals[first + static_cast<int64_t>(i)]);
      } else {
        const auto* const rng = static_cast<const uint32_t*>(call.inputs[kRng]);
        if (at / 4 != drawn) block = philox_at(rng, p.stream, static_cast<uint32_t>(at / 4));
        drawn = at / 4;
        moved += rounded_change(changes[i], block.v[at % 4]);
      }
      numbers[at] = static_cast<Number>(std::clamp(moved, kLow, kHigh));
    }
  }

  template <class Real>
  static void run_chunk(const ir::KernelCall& call, const Params& p, int64_t first, int64_t count) {
    double changes[kChunk];
    int64_t all[kChunk];
    const std::span<int64_t> places(all, static_cast<size_t>(count));
    places_of(p, p.part, first, places);
    changes_of<Real>(call, p, first, places, changes);
    (p.is_wide != 0 ? move<int32_t> : move<int8_t>)(call, p, first, places, changes);
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

// The rule of T for whole numbers. Its op rounds at random, and names in its own rule the one that
// keeps a residual.
template <class T>
[[nodiscard]] ir::IntegerRule integer_rule() {
  return {
      .update = &IntegerUpdate<T, false>::op(),
      .update_attrs = [](const ir::Attrs& settings, int64_t stream, const ir::TrainedPart& part) {
        using Settings = typename T::Settings;
        return ir::Attrs::of(
            IntegerUpdateAttrs<Settings>{settings.as<Settings>(), stream, part.axis, part.indices});
      }};
}

}  // namespace thimble::ops
