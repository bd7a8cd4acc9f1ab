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
