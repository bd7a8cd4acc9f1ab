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
  uint8_t narrow[kMostWidened];    // 0: not converted; 1: f16; 2: bf16
};
inline constexpr size_t kWidenedParams = (sizeof(WidenedHeader) + 15) / 16 * 16;

// Makes the parameters of a widened call. Throws Error if an op has too many inputs and outputs.
[[nodiscard]] Params widened_params(const OpDef& op, const KernelContext& c);
// The parameters of the f32 kernel within them.
[[nodiscard]] Params narrow_params(const Params& params);
// Bytes of workspace: a copy of every widened tensor, each a multiple of 64, and the workspace of
// the f32 kernel.
[[nodiscard]] int64_t widened_workspace(const OpDef& op, const Params& params, int threads,
                                        bool fast);
// Bytes of the copy of a tensor with this many elements.
[[nodiscard]] inline int64_t widened_bytes(int64_t elements) {
  return (4 * elements + 63) / 64 * 64;
}

// The kernels, given by a higher layer; the fast ones convert in parallel.
[[nodiscard]] KernelFn widened_ref();
[[nodiscard]] KernelFn widened_fast();

}  // namespace thimble::ir
