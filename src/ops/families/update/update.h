// The family of ops that update a parameter in place. An optimizer's rule consists of its settings,
// its formula and the states it keeps.
#pragma once

#include <fmt/format.h>
#include <thimble/optimizer.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/optimizer_value.h"

// Opens the definition of an optimizer's folder, as THIMBLE_OP_FOLDER does: its op.h holds the
// settings and becomes part of <thimble/optimizers.h>.
#define THIMBLE_OPTIMIZER_FOLDER(folder) THIMBLE_OP_FOLDER(folder)

namespace thimble::ops {

// Checks of an optimizer's settings. Each throws Error(optimizer, ...) that names the setting.
class SettingChecks {
 public:
  explicit SettingChecks(const char* optimizer) : optimizer_(optimizer) {}

  void require(bool fine, const char* message, double value) const {
    if (!fine) throw Error("optimizer", fmt::format("{}: {}, got {}", optimizer_, message, value));
  }
  void not_negative(std::initializer_list<std::pair<const char*, double>> settings) const {
    for (const auto& [name, value] : settings) {
      require(value >= 0.0 && std::isfinite(value),
              fmt::format("{} must not be negative", name).c_str(), value);
    }
  }
  // Decay factors of averages, in [0, 1).
  void below_one(std::initializer_list<std::pair<const char*, double>> settings) const {
    for (const auto& [name, value] : settings) {
      require(value >= 0.0 && value < 1.0,
              fmt::format("{} must be at least 0 and below 1", name).c_str(), value);
    }
  }

 private:
  const char* optimizer_;
};

// Inputs of every op that applies an optimizer's rule.
inline constexpr ir::ArgDoc kRateInput{.name = "lr",
                                       .doc = "one number: the learning rate of this step"};
inline constexpr ir::ArgDoc kStepInput{.name = "step",
                                       .doc = "this update's number, from 1; 0: nothing is updated",
                                       .types = DType::i32};

// Fails unless the input `rate` and the one after it are a rate and a step.
inline void require_rate_and_step(const ir::InferContext& c, int rate) {
  c.require(c.shape(rate).rank() == 0, "expected one number as the learning rate");
  c.require(c.shape(rate + 1).rank() == 0, "expected one number as the step");
}

// Adds the states of a rule to an op, as its next inputs and outputs: each is updated in place.
inline void add_states(OpDef& def, std::span<const ir::ArgDoc> states) {
  ir::Signature& signature = def.signature;
  for (const ir::ArgDoc& state : states) {
    def.memory.updates.push_back(
        {static_cast<int>(signature.outputs.size()), static_cast<int>(signature.inputs.size())});
    signature.inputs.push_back(state);
    signature.outputs.push_back(state);
  }
}

// Fails unless the inputs from `first` on, of which the op declares so many, are these states.
inline void require_states(const ir::InferContext& c, int first, size_t declared,
                           const std::vector<ir::StateSpec>& wanted) {
  size_t given = 0;
  for (size_t i = 0; i < declared; ++i) given += c.has(first + static_cast<int>(i)) ? 1 : 0;
  c.require(given == wanted.size(),
            fmt::format("these options need {} state tensors, got {}", wanted.size(), given));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int input = first + static_cast<int>(i);
    c.require(c.has(input) && c.input(input) == wanted[i].type,
              fmt::format("expected {} of type {}", wanted[i].name, to_string(wanted[i].type)));
  }
}

// The definition of an update op described by a type T with the static members
//   name, optimizer (its name for users), doc
//   using Settings: the public struct, described by describe(Settings&, FieldVisitor&)
//   check(const Settings&, const SettingChecks&)
//   std::span<const ir::ArgDoc> state_docs(): what it may keep, those always needed first
//   std::vector<ir::StateSpec> states(const Settings&, const Shape& param): what it keeps
//   params(const Settings&, const Shape& param): the kernels' POD, whose `n`, the number of
//     elements, is filled in here
//   ref, ref64, fast: kernels (real* const* out, const real* param, const real* grad,
//     const real* lr, const int32_t* step, const real* state..., const params*) where out holds the
//     parameter and then the states, each the same memory as the input it updates
//   workspace, optional: as OpDef's
//   momentum, optional: double P::*, the kernels' constant that a schedule may change from step to
//     step, and momentum_name, the setting that it is
//   elementwise, optional: false where an element depends on others, or on a state that is one
//     number for all of them
//   type_name: the name of the settings, where it is not `optimizer` with a capital
//   what RowUpdate (row_update.h) asks for, and by_rows: its op, where the rule may be applied to
//     some rows alone
//   what PartUpdate (part_update.h) asks for, and by_part: its op, where the rule may be applied to
//     a part of a parameter; part_attrs: PartUpdate's attrs
//   what IntegerUpdate (integer_update.h) asks for, and integers: integer_rule<T>(), where the rule
//     may be applied to whole numbers
template <class T>
struct Update {
  using Settings = typename T::Settings;

  static const OpDef& op() {
    static const OpDef def = make();
    return def;
  }

  // The settings as an Optimizer. Throws Error if one is out of its range.
  static Optimizer optimizer(const Settings& settings) {
    ir::Attrs attrs = ir::Attrs::of(settings);
    check(attrs);
    return Optimizer(
        std::make_shared<const ir::OptimizerValue>(ir::OptimizerValue{&op(), std::move(attrs)}));
  }

  // The ops of the folder, returned by op_folder_...
  static std::span<const OpDef* const> folder() {
    static const std::vector<const OpDef*> defs = [] {
      std::vector<const OpDef*> all{&op()};
      if constexpr (requires { T::by_rows(); }) all.push_back(&T::by_rows());
      if constexpr (requires { T::by_part(); }) all.push_back(&T::by_part());
      if constexpr (requires { T::integers(); }) {
        const OpDef* const rounded = T::integers().update;
        all.insert(all.end(), {rounded, rounded->integers.update});
      }
      return all;
    }();
    return defs;
  }

  // The checked types of the parameter and of its states: the inputs from `first` on.
  static std::vector<ir::TensorType> state_types(const ir::InferContext& c, int first) {
    const std::vector<ir::StateSpec> wanted = states(c.attrs, c.shape(0));
    require_states(c, first, T::state_docs().size(), wanted);
    std::vector<ir::TensorType> types{c.input(0)};
    for (const ir::StateSpec& state : wanted) types.push_back(state.type);
    return types;
  }

 private:
  static constexpr int kRate = 2;
  static constexpr int kStep = 3;
  static constexpr int kFirstState = 4;

  static OpDef make() {
    OpDef def{
        .name = T::name,
        .signature{
            .doc = T::doc,
            .inputs = {{"param", "any shape: a parameter"},
                       {"grad", "the shape of param"},
                       kRateInput,
                       kStepInput},
            .outputs = {{"param", "the same memory, updated"}},
            .attrs = ir::Attrs::schema_of<Settings>(),
        },
        .infer = infer,
        .kernels{
            .params = params,
            .ref = kernel<float, 0>(),
            .ref64 = kernel<double, 1>(),
            .fast = kernel<float, 2>(),
        },
        .memory{.updates = {{0, 0}}},
        .optimizer = {.name = T::optimizer, .check = check, .states = states},
    };
    if constexpr (requires { T::elementwise; }) {
      def.optimizer.elementwise = T::elementwise;
    } else {
      using Params = decltype(T::params(std::declval<const Settings&>(), std::declval<Shape>()));
      static_assert(offsetof(Params, n) == 0, "parts of a tensor are given by the first field");
      def.optimizer.elementwise = true;
    }
    if constexpr (requires { T::type_name; }) def.optimizer.type = T::type_name;
    if constexpr (requires { T::workspace; }) def.kernels.workspace = T::workspace;
    if constexpr (requires { T::by_rows(); }) {
      def.optimizer.by_rows = &T::by_rows();
      def.optimizer.reaches_all_rows = [](const ir::Attrs& settings) {
        return T::reaches_all_rows(settings.as<Settings>());
      };
    }
    if constexpr (requires { T::by_part(); }) {
      def.optimizer.by_part = &T::by_part();
      def.optimizer.part_attrs = T::part_attrs;
    }
    if constexpr (requires { T::integers(); }) def.integers = T::integers();
    if constexpr (requires { T::state_bits_name; }) def.optimizer.state_bits = T::state_bits_name;
    add_states(def, T::state_docs());
    if constexpr (kCycles) {
      def.signature.inputs.push_back({"momentum", "one number in the place of the setting", true});
      def.optimizer.momentum = T::momentum_name;
    }
    return def;
  }

  static constexpr bool kCycles = requires { T::momentum_name; };

  template <int which>
  static constexpr ir::KernelFn rule() {
    return which == 0 ? T::ref : which == 1 ? T::ref64 : T::fast;
  }

  template <class Real, int which>
  static constexpr ir::KernelFn kernel() {
    if (rule<which>() == nullptr) return nullptr;
    return {&run<Real, which>, rule<which>().traits()};
  }

  // Calls the rule's kernel, unless the update has the number 0; with the scheduled constant, if
  // given as the last input.
  template <class Real, int which>
  static void run(const ir::KernelCall& call) {
    if (*static_cast<const int32_t*>(call.inputs[kStep]) == 0) return;
    if constexpr (kCycles) {
      using Params = decltype(T::params(std::declval<const Settings&>(), std::declval<Shape>()));
      const void* const momentum = call.inputs[kFirstState + T::state_docs().size()];
      if (momentum != nullptr) {
        Params params = *static_cast<const Params*>(call.params);
        params.*T::momentum = static_cast<double>(*static_cast<const Real*>(momentum));
        ir::KernelCall changed = call;
        changed.params = &params;
        return rule<which>()(changed);
      }
    }
    rule<which>()(call);
  }

  static void check(const ir::Attrs& settings) {
    T::check(settings.as<Settings>(), SettingChecks(T::optimizer));
  }

  static std::vector<ir::StateSpec> states(const ir::Attrs& settings, const Shape& param) {
    return T::states(settings.as<Settings>(), param);
  }

  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    check(c.attrs);
    c.require(c.shape(1) == c.shape(0), "expected a gradient of the parameter's shape");
    require_rate_and_step(c, kRate);
    const int momentum = kFirstState + static_cast<int>(T::state_docs().size());
    if (c.has(momentum)) {
      c.require(c.shape(momentum).rank() == 0, "expected one number as the momentum");
    }
    return state_types(c, kFirstState);
  }

  static ir::Params params(const ir::KernelContext& c) {
    auto params = T::params(c.attrs.as<Settings>(), c.out());
    params.n = static_cast<int>(c.out().elements());
    return params;
  }
};

// Specs of named states, each of the parameter's shape and initially zero.
inline std::vector<ir::StateSpec> like_param(const Shape& param,
                                             std::initializer_list<const char*> names) {
  std::vector<ir::StateSpec> specs;
  for (const char* name : names) specs.push_back({name, {DType::f32, param}});
  return specs;
}

}  // namespace thimble::ops
