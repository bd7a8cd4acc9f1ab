// The family of ops that change a parameter in place: an optimizer's rule is its formula and the
// tensors it remembers.
#pragma once

#include <fmt/format.h>

#include <span>

#include "ir/graph.h"

namespace thimble::ops {

// The definition of an update op described by a type T with the static members
//   name, doc, example
//   std::span<const ir::ArgDoc> states(): the tensors it may remember, those always needed first
//   using Options; int state_count(const Options&): how many of them these options need
//   params(const Options&): the kernels' POD, with the number of elements in `n`
//   ref, ref64, fast: kernels (real* const* out, const real* param, const real* grad,
//     const real* lr, const int32_t* step, const real* state..., const params*) where out holds the
//     parameter and then the states, each the same memory as the input it updates
template <class T>
struct Update {
  using Options = typename T::Options;

  static const OpDef& op() {
    static const OpDef def = make();
    return def;
  }

  // The parameter's new value. states: as many as the options need.
  static Value apply(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                     Options options) {
    std::vector<Value> inputs{param, grad, lr, step};
    inputs.insert(inputs.end(), states.begin(), states.end());
    return param.graph().add(op(), ir::Attrs::of(std::move(options)), inputs)[0];
  }

  // What op_folder_... returns.
  static std::span<const OpDef* const> folder() {
    static const OpDef* const defs[] = {&op()};
    return defs;
  }

 private:
  static constexpr int kFirstState = 4;

  static OpDef make() {
    OpDef def{
        .name = T::name,
        .doc = T::doc,
        .example = T::example,
        .inputs = {{"param", "any shape: a parameter"},
                   {"grad", "the shape of param"},
                   {"lr", "one number: the learning rate"},
                   {"step", "one i32: this update's number, from 1"}},
        .outputs = {{"param", "the same memory, updated"}},
        .attrs = ir::Attrs::schema_of<Options>(),
        .infer = infer,
        .params = params,
        .ref = T::ref,
        .ref64 = T::ref64,
        .fast = T::fast,
        .updates = {{0, 0}},
    };
    int number = 0;
    for (const ir::ArgDoc& state : T::states()) {
      def.inputs.push_back(state);
      def.outputs.push_back(state);
      def.updates.push_back({1 + number, kFirstState + number});
      ++number;
    }
    return def;
  }

  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    for (int i : {0, 1, 2}) c.require_dtype(i, DType::f32);
    c.require_dtype(3, DType::i32);
    c.require(c.shape(1) == c.shape(0), "expected a gradient of the parameter's shape");
    c.require(c.shape(2).rank() == 0, "expected one number as the learning rate");
    c.require(c.shape(3).rank() == 0, "expected one number as the step");
    const int states = T::state_count(c.attrs.as<Options>());
    const int given = static_cast<int>(c.inputs.size()) - kFirstState;
    c.require(given == states,
              fmt::format("these options need {} state tensors, got {}", states, given));
    std::vector<ir::TensorType> types{c.input(0)};
    for (int i = 0; i < states; ++i) {
      c.require(c.has(kFirstState + i), "a state tensor is left out");
      c.require_dtype(kFirstState + i, DType::f32);
      c.require(c.shape(kFirstState + i) == c.shape(0),
                "expected state tensors of the parameter's shape");
      types.push_back(c.input(kFirstState + i));
    }
    return types;
  }

  static ir::Params params(const ir::KernelContext& c) {
    auto params = T::params(c.attrs.as<Options>());
    params.n = static_cast<int>(c.out().elements());
    return params;
  }
};

}  // namespace thimble::ops
