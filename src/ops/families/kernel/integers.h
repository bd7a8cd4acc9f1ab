// The integer kernels of an op, instantiated from its ref.h for every type
// (families/builder/both_precisions.h, THIMBLE_INTEGERS).
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "ir/op_def.h"

namespace thimble::ops {

// All inputs but the first `others`, which have the given types, have the kernel's type.
inline std::vector<ir::TypedKernels> typed_kernels(
    const std::vector<DType>& others,
    std::initializer_list<std::pair<DType, ir::KernelFn>> kernels) {
  std::vector<ir::TypedKernels> all;
  for (const auto& [dtype, kernel] : kernels) {
    std::vector<DType> inputs = others;
    inputs.push_back(dtype);
    all.push_back({.inputs = std::move(inputs), .ref = kernel});
  }
  return all;
}

// Throws Error if an integer type cannot represent the number of an attribute.
void require_holds(const ir::InferContext& c, DType dtype, double number);

}  // namespace thimble::ops

// <op>_ref of every integer type; the first inputs have the given types.
#define INTEGER_KERNELS_AFTER(others, op)                                               \
  ::thimble::ops::typed_kernels(others, {{DType::i8, ir::kernel_fn<&i8::op##_ref>()},   \
                                         {DType::i16, ir::kernel_fn<&i16::op##_ref>()}, \
                                         {DType::i32, ir::kernel_fn<&i32::op##_ref>()}, \
                                         {DType::i64, ir::kernel_fn<&i64::op##_ref>()}, \
                                         {DType::u8, ir::kernel_fn<&u8::op##_ref>()},   \
                                         {DType::u32, ir::kernel_fn<&u32::op##_ref>()}})
#define INTEGER_KERNELS(op) INTEGER_KERNELS_AFTER({}, op)
// Kernels of i32 and i64 alone, for sums.
#define SUM_KERNELS(op)                                                             \
  ::thimble::ops::typed_kernels({}, {{DType::i32, ir::kernel_fn<&i32::op##_ref>()}, \
                                     {DType::i64, ir::kernel_fn<&i64::op##_ref>()}})
