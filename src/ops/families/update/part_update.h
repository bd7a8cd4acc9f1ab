// Applies an optimizer's rule to a part of a parameter (ir::TrainedPart): the slices of some
// indices along an axis. Gradient and states have the part's shape. It calls the rule's own
// kernels.
#pragma once

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/update/part.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

namespace thimble::ops {

// The attributes of such an op.
template <class Settings>
struct PartAttrs {
  Settings settings;
  int64_t axis = 0;
  std::vector<int64_t> indices;

  [[nodiscard]] ir::TrainedPart part() const { return {static_cast<int>(axis), indices}; }
};
template <class Settings>
void describe(PartAttrs<Settings>& a, ir::FieldVisitor& v) {
  describe(a.settings, v);
  v.field("axis", a.axis, "of the parameter, of which some slices are trained");
  v.field("indices", a.indices, "their places along the axis, rising");
}

// The definition of the op that T's rule for a part is, for a T of Update whose formula looks at
// one element at a time. Of T besides: part_name.
template <class T>
struct PartUpdate {
  using Settings = typename T::Settings;
  using Attrs = PartAttrs<Settings>;
  using RuleParams = decltype(T::params(std::declval<const Settings&>(), std::declval<Shape>()));

  static const OpDef& op() {
    static const OpDef def = make();
    return def;
  }
  static ir::Attrs attrs(const ir::Attrs& settings, const ir::TrainedPart& part) {
    return ir::Attrs::of(Attrs{settings.as<Settings>(), part.axis, part.indices});
  }

 private:
  enum Input { kParam, kGrad, kRate, kStep, kFirstState };
  static constexpr int kMostInputs = kFirstState + 6;
  // Elements per call of the rule's kernel: one task for every rule.
  static constexpr int64_t kChunk = 2048;

  struct Params {
    int64_t n;  // elements of the part
    PartDims part;
    RuleParams rule;
  };

  static OpDef make() {
    OpDef def{
        .name = T::part_name,
        .signature{
            .doc = "The rule for a part of a parameter: the slices of some indices along an axis. "
                   "Gradient and states have the shape of the part; nothing else of the parameter "
                   "is read or changed.",
            .inputs = {{"param", "any shape: a parameter"},
                       {"grad", "the shape of the part"},
                       {"lr", "one number: the learning rate of this step"},
                       {.name = "step",
                        .doc = "this update's number, from 1; 0: nothing is updated",
                        .types = DType::i32}},
            .outputs = {{"param", "the same memory, updated in the part"}},
            .attrs = ir::Attrs::schema_of<Attrs>(),
        },
        .infer = infer,
        .kernels{
            .params = params,
            .ref = one_by_one<float>,
            .ref64 = one_by_one<double>,
            .fast = in_chunks,
        },
        .memory{.updates = {{0, kParam}}},
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
    if constexpr (requires { T::momentum_name; }) {
      def.signature.inputs.push_back({"momentum", "one number in the place of the setting", true});
    }
    return def;
  }

  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    const auto& attrs = c.attrs.as<Attrs>();
    T::check(attrs.settings, SettingChecks(T::optimizer));
    require_part(c, c.shape(kParam), attrs.part());
    const Shape shape = ir::part_shape(c.shape(kParam), attrs.part());
    c.require(c.shape(kGrad) == shape, "expected a gradient of the part's shape");
    c.require(c.shape(kRate).rank() == 0, "expected one number as the learning rate");
    c.require(c.shape(kStep).rank() == 0, "expected one number as the step");
    const auto most = static_cast<int>(T::state_docs().size());
    if (c.has(kFirstState + most)) {
      c.require(c.shape(kFirstState + most).rank() == 0, "expected one number as the momentum");
    }
    const std::vector<ir::StateSpec> wanted = T::states(attrs.settings, shape);
    size_t given = 0;
    for (int i = 0; i < most; ++i) given += c.has(kFirstState + i) ? 1 : 0;
    c.require(given == wanted.size(),
              fmt::format("these options need {} state tensors, got {}", wanted.size(), given));
    std::vector<ir::TensorType> types{c.input(kParam)};
    for (size_t i = 0; i < wanted.size(); ++i) {
      const ir::TensorType& type = wanted[i].type;
      c.require(
          type == ir::TensorType{DType::f32, shape},
          fmt::format("{} must be f32 of the part's shape; set state_bits to 32", wanted[i].name));
      const int input = kFirstState + static_cast<int>(i);
      c.require(c.has(input) && c.input(input) == type,
                fmt::format("expected {} of type {}", wanted[i].name, to_string(type)));
      types.push_back(type);
    }
    return types;
  }

  static ir::Params params(const ir::KernelContext& c) {
    const auto& attrs = c.attrs.as<Attrs>();
    const Shape shape = ir::part_shape(c.out(), attrs.part());
    return with_indices(Params{.n = shape.elements(),
                               .part = part_dims(c.out(), attrs.part()),
                               .rule = T::params(attrs.settings, shape)},
                        attrs.indices);
  }

  // The elements [first, first + count) of the part.
  template <class Real>
  static void run_chunk(const ir::KernelCall& call, ir::KernelFn kernel, int64_t first,
                        int64_t count) {
    const auto& p = *static_cast<const Params*>(call.params);
    int64_t all[kChunk];
    const std::span<int64_t> places(all, static_cast<size_t>(count));
    places_of(p, p.part, first, places);
    auto* const param = static_cast<Real*>(call.outputs[kParam]);
    Real piece[kChunk];
    for (size_t i = 0; i < places.size(); ++i) piece[i] = param[places[i]];
    void* outputs[kMostInputs] = {piece};
    const void* inputs[kMostInputs] = {piece, static_cast<const Real*>(call.inputs[kGrad]) + first,
                                       call.inputs[kRate], call.inputs[kStep]};
    const auto states = static_cast<int>(T::state_docs().size());
    for (int s = 0; 1 + s < call.output_count; ++s) {
      Real* const state = static_cast<Real*>(call.outputs[1 + s]) + first;
      outputs[1 + s] = state;
      inputs[kFirstState + s] = state;
    }
    const int momentum = kFirstState + states;
    if constexpr (requires { T::momentum_name; }) inputs[momentum] = call.inputs[momentum];
    RuleParams rule = p.rule;
    rule.n = static_cast<int>(count);
    kernel({outputs, inputs, nullptr, &rule, momentum + 1, 1 + states, call.pool});
    for (size_t i = 0; i < places.size(); ++i) param[places[i]] = piece[i];
  }

  template <class Real>
  static void one_by_one(const ir::KernelCall& call) {
    constexpr bool is_single = std::is_same_v<Real, float>;
    const ir::Kernels& rule = Update<T>::op().kernels;
    const int64_t n = static_cast<const Params*>(call.params)->n;
    for (int64_t first = 0; first < n; first += kChunk) {
      run_chunk<Real>(call, is_single ? rule.ref : rule.ref64, first, std::min(kChunk, n - first));
    }
  }

  static void in_chunks(const ir::KernelCall& call) {
    const ir::KernelFn rule = Update<T>::op().kernels.fast;
    const int64_t n = static_cast<const Params*>(call.params)->n;
    call.pool->run(simd::divide_up(n, kChunk), [&](int64_t task) {
      run_chunk<float>(call, rule, task * kChunk, std::min(kChunk, n - task * kChunk));
    });
  }
};

}  // namespace thimble::ops
