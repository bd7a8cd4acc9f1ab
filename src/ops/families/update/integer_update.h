// Applies an optimizer's rule to whole numbers: the int8 weights and int32 biases of a quantized
// network. Its kernels, and how they round, stand in integer_ref.h.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"
#include "ops/families/random/random.h"
#include "ops/families/update/integer_dims.h"
#include "ops/families/update/part.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"

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

// The reference kernels of such an op.
struct IntegerKernels {
  ir::KernelFn ref;
  ir::KernelFn ref64;
};

// The definition of the op that T's rule of whole numbers is, for a T of Update whose formula looks
// at one element at a time, whose states are of the parameter's shape or codes of it in blocks
// (block_codes.h), and whose change does not depend on the parameter but by the setting
// weight_decay. Of T besides:
//   rounded_name, residual_name: of the op without and with a residual
//   bool shrinks(const Settings&), optional: whether weight decay multiplies the parameter, in the
//     place of being added to the gradient
//   IntegerDims: parameters of the kernels, {integer_dims walk; params rule;}
//   rounded, residual: IntegerKernels
//   integer_part: function (out, in, const IntegerDims*, indices, first, last, has_residual), the
//     kernel for the elements [first, last); first: a multiple of INTEGER_CHUNK
template <class T, bool kHasResidual>
struct IntegerUpdate {
  using Settings = typename T::Settings;
  using Attrs = IntegerUpdateAttrs<Settings>;
  using Params = typename T::IntegerDims;

  static const OpDef& op() {
    static const OpDef def = make();
    return def;
  }

 private:
  enum Input { kRng, kResidual = kRng, kParam, kGrad, kRate, kStep, kUnits, kFirstState };
  static constexpr int kResidualResult = 1;
  static constexpr int kTask = 1024;  // elements
  static constexpr IntegerKernels kKernels = kHasResidual ? T::residual : T::rounded;

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
            .ref = kKernels.ref,
            // A residual says the last bits of a change, which differ between f32 and double.
            .ref64 = kHasResidual ? nullptr : kKernels.ref64,
            .fast = in_tasks,
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
    const PartDims part = part_dims(c.out(), attrs.part());
    Params p{};
    integer_dims& walk = p.walk;
    walk.n = static_cast<int>(shape.elements());
    walk.size = static_cast<int>(part.size);
    walk.inner = static_cast<int>(part.inner);
    walk.count = static_cast<int>(part.count);
    walk.states = static_cast<int>(T::states(attrs.settings, shape).size());
    walk.stream = static_cast<uint32_t>(attrs.stream);
    walk.is_wide = c.outputs[0].dtype == DType::i32 ? 1 : 0;
    if (c.has(kUnits)) {
      walk.units = static_cast<int>(c.in(kUnits).elements());
      walk.unit_run = 1;
      for (int i = *unit_axis(shape, c.in(kUnits)) + 1; i < shape.rank(); ++i) {
        walk.unit_run *= static_cast<int>(shape[i]);
      }
    }
    if constexpr (requires { T::shrinks(settings); }) walk.shrinks = T::shrinks(settings) ? 1 : 0;
    // A rule that goes up turns the whole gradient around.
    const bool turns = walk.shrinks == 0 && settings.maximize;
    walk.decay = turns ? -attrs.settings.weight_decay : attrs.settings.weight_decay;
    p.rule = T::params(settings, shape);
    return with_indices(p, attrs.indices);
  }

  static void in_tasks(const ir::KernelCall& call) {
    const auto& p = *static_cast<const Params*>(call.params);
    if (*static_cast<const int32_t*>(call.inputs[kStep]) == 0) return;
    const auto* const indices = reinterpret_cast<const int32_t*>(&p + 1);
    call.pool->run((int64_t{p.walk.n} + kTask - 1) / kTask, [&](int64_t task) {
      const auto first = static_cast<int>(task * kTask);
      T::integer_part(call.outputs, call.inputs, &p, indices, first,
                      std::min(p.walk.n - first, kTask) + first, kHasResidual ? 1 : 0);
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
