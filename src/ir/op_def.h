// The definition of an op. All other parts of the library ask it and name no op.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/op_context.h"
#include "ir/op_parts.h"
#include "ir/quantize_rule.h"

namespace thimble::ir {

// The definition of an op. Filled with designated initializers in src/ops/<op>/op.cpp.
struct OpDef {
  const char* name = "";
  bool is_gradient = false;  // built by the gradient rules of other ops alone
  Signature signature;
  // The shape rule: returns the types of the outputs; throws Error on bad inputs.
  std::vector<TensorType> (*infer)(const InferContext&) = nullptr;
  GradientRule gradient;
  RewriteRule rewrite;
  Kernels kernels;
  MemoryTraits memory;
  DataFlow flow;
  OptimizerRule optimizer;  // for an optimizer's rule: how it changes a parameter
  QuantizeRule quantized;   // what it becomes where a network is quantized
  IntegerRule integers;     // how parameters of whole numbers are trained
  // The parameters of the layer that the op is; none: this node is none. Outputs are not given.
  // Null: the op is no layer.
  std::optional<LayerParameters> (*layer)(const KernelContext&) = nullptr;
};

// The types that input i takes in the op's usual kernels: those that it declares (ArgDoc::types).
// By default any type where the kernels take any (Kernels::any_type), the type of the random state
// where it is that, f32 alone where the op updates it, and else f32, f16 and bf16.
[[nodiscard]] TypeSet usual_types(const OpDef& op, size_t i);

// The types that inputs may have together: a set for each declared input, of which the last one
// holds for all inputs after it. First the usual ones, then those of each of the typed kernels.
[[nodiscard]] std::vector<std::vector<TypeSet>> type_rows(const OpDef& op);

// The types that input i takes in any of these rows.
[[nodiscard]] TypeSet taken_types(const OpDef& op, size_t i);

// The types of the outputs; throws Error on bad inputs. An op that takes f32 also takes f16 or bf16
// (not both), even if its kernels do not (Kernels::any_type, typed): its f32 kernels then compute
// on widened copies, and its f32 outputs have the 16-bit type, except those that it names
// (Kernels::stay_f32) and those that it updates.
[[nodiscard]] std::vector<TensorType> infer_types(const OpDef& op, const Attrs& attrs,
                                                  std::span<const TensorType* const> inputs);

// The kernels for given types of inputs, with their own parameters and workspace.
struct ChosenKernels {
  const OpDef* op;
  const TypedKernels* typed;  // null: the op's usual ones
  bool widens;                // runs the op's f32 kernels on copies of 16-bit tensors
  KernelFn ref;
  KernelFn ref64;  // double in place of f32, for gradient checks
  KernelFn fast;   // null: ref

  // Whether these are the op's usual kernels with their own parameters.
  [[nodiscard]] bool is_usual() const { return typed == nullptr && !widens; }
  [[nodiscard]] KernelFn kernel(bool wants_fast) const {
    return wants_fast && fast != nullptr ? fast : ref;
  }
  [[nodiscard]] Params params(const KernelContext& c) const;
  // Bytes of workspace of kernel(wants_fast).
  [[nodiscard]] int64_t workspace(const Params& params, int threads, bool wants_fast) const;
  // As Kernels::flops and Kernels::fast_flops; 0 if the op does not state them.
  [[nodiscard]] double flops(const Params& params) const;
  [[nodiscard]] double fast_flops(const Params& params) const;
};
// inputs: null for those left out.
[[nodiscard]] ChosenKernels kernels_for(const OpDef& op, std::span<const TensorType* const> inputs);

// All ops, sorted by name. Built on first use, valid forever. Thread-safe.
[[nodiscard]] std::span<const OpDef* const> all_ops();

// The op of that name, or null.
[[nodiscard]] const OpDef* find_op(std::string_view name);

}  // namespace thimble::ir

// Opens the definition of a folder's ops: THIMBLE_OP_FOLDER(relu) { return ...; }. Names of
// thimble::ops::relu_impl need no qualification in it.
#define THIMBLE_OP_FOLDER(folder)                  \
  namespace thimble::ops::folder##_impl {          \
    std::span<const ir::OpDef* const> op_folder(); \
  }                                                \
  std::span<const thimble::ir::OpDef* const> thimble::ops::folder##_impl::op_folder()

namespace thimble::ops {
using ir::OpDef;
}  // namespace thimble::ops
