// Runs an op's f32 kernels on 16-bit tensors: each f16 or bf16 input is widened into the workspace,
// exactly, and each f32 output that is to be one is rounded from there, to nearest, ties to even.
// Every product and sum in between is of f32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/op_def.h"

namespace thimble::ir {

inline constexpr int kMostWidened = 24;    // inputs and outputs together
inline constexpr int kLongestOpName = 48;  // with its end

// Parameters of a widened call, before those of the f32 kernel, which begin at a multiple of 16.
// Without pointers: they may be written to a file.
struct WidenedHeader {
  char op[kLongestOpName];
  int32_t inputs;
  int32_t outputs;
  int64_t elements[kMostWidened];  // inputs, then outputs
  uint8_t narrow[kMostWidened];    // 0: as it is; 1: f16; 2: bf16
};
inline constexpr size_t kWidenedParams = (sizeof(WidenedHeader) + 15) / 16 * 16;

// Parameters of a widened call. Throws Error where an op has too many inputs and outputs.
[[nodiscard]] Params widened_params(const OpDef& op, const KernelContext& c);
// Those of the f32 kernel in them.
[[nodiscard]] Params narrow_params(const Params& params);
// Bytes: a copy of every widened tensor, each a multiple of 64, and what the f32 kernel needs.
[[nodiscard]] int64_t widened_workspace(const OpDef& op, const Params& params, int threads,
                                        bool fast);
// Bytes of the copy of a tensor of so many elements.
[[nodiscard]] inline int64_t widened_bytes(int64_t elements) {
  return (4 * elements + 63) / 64 * 64;
}

// The kernels, which the layer above gives: they convert in parallel where they are fast.
[[nodiscard]] KernelFn widened_ref();
[[nodiscard]] KernelFn widened_fast();

}  // namespace thimble::ir
