// What an op says of itself. Everything else in the library asks here and names no op.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ir/op_context.h"
#include "ir/op_parts.h"

namespace thimble::ir {

// The definition of an op. Filled with designated initializers in src/ops/<op>/op.cpp.
struct OpDef {
  const char* name = "";
  Signature signature;
  // The shape rule: types of the outputs; throws Error on bad inputs.
  std::vector<TensorType> (*infer)(const InferContext&) = nullptr;
  GradientRule gradient;
  RewriteRule rewrite;
  Kernels kernels;
  MemoryTraits memory;
  DataFlow flow;
  OptimizerRule optimizer;  // how it changes a parameter, where it is an optimizer's rule
};

// The types of the outputs; throws Error on bad inputs. In the place of f32 an op takes f16 or bf16
// (not both), too, unless its kernels do so themselves (Kernels::any_type, typed): then its f32
// kernels compute on widened copies, and its f32 outputs have the 16-bit type, but for those that
// it names (Kernels::stay_f32) and what it updates.
[[nodiscard]] std::vector<TensorType> infer_types(const OpDef& op, const Attrs& attrs,
                                                  std::span<const TensorType* const> inputs);

// The kernels for inputs of some types, with parameters and scratch memory of their own.
struct ChosenKernels {
  const OpDef* op;
  const TypedKernels* typed;  // null: the op's usual ones
  bool widens;                // calls the op's f32 kernels on copies of 16-bit tensors
  KernelFn ref;
  KernelFn ref64;  // where the types say f32, of double: for gradient checks
  KernelFn fast;   // null: ref

  // Whether they are the op's own, with parameters of its own.
  [[nodiscard]] bool is_usual() const { return typed == nullptr && !widens; }
  [[nodiscard]] KernelFn kernel(bool wants_fast) const {
    return wants_fast && fast != nullptr ? fast : ref;
  }
  [[nodiscard]] Params params(const KernelContext& c) const;
  // Bytes of scratch memory of kernel(wants_fast).
  [[nodiscard]] int64_t workspace(const Params& params, int threads, bool wants_fast) const;
  // As Kernels::flops; 0 where the op does not say.
  [[nodiscard]] double flops(const Params& params) const;
};
// inputs: null for those left out.
[[nodiscard]] ChosenKernels kernels_for(const OpDef& op, std::span<const TensorType* const> inputs);

// Every op, sorted by name. Built on first use, valid for ever. Thread-safe.
[[nodiscard]] std::span<const OpDef* const> all_ops();

// The op of that name, or null.
[[nodiscard]] const OpDef* find_op(std::string_view name);

}  // namespace thimble::ir

// Opens the definition of the ops of a folder: THIMBLE_OP_FOLDER(relu) { return ...; }. What stands
// in thimble::ops::relu_impl is found there by its plain name.
#define THIMBLE_OP_FOLDER(folder)                  \
  namespace thimble::ops::folder##_impl {          \
    std::span<const ir::OpDef* const> op_folder(); \
  }                                                \
  std::span<const thimble::ir::OpDef* const> thimble::ops::folder##_impl::op_folder()

namespace thimble::ops {
using ir::OpDef;
}  // namespace thimble::ops
