// Runs an op's f32 kernels on 16-bit tensors: f16 and bf16 inputs are widened into the workspace,
// exactly, and f32 outputs that are to be narrow are rounded from there, to nearest, ties to even.
// Every product and sum in between is of f32. Where the op can (RowBlocks), this goes some rows at
// a time, so that the copies are small and stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/op_def.h"

namespace thimble::ir {

inline constexpr int kMostWidened = 24;    // inputs and outputs together
inline constexpr int kLongestOpName = 48;  // with its end

// Parameters of a widened call. Behind them, each at a multiple of 16, those of the f32 kernel: for
// all rows, for block_rows and for the rows of the last block. Without pointers: they may be
// written to a file.
struct WidenedHeader {
  char op[kLongestOpName];
  int32_t inputs;
  int32_t outputs;
  int64_t rows;        // of divided tensors; 1 if there are none
  int64_t block_rows;  // that are widened at a time
  int32_t params_bytes;
  int64_t elements[kMostWidened];   // inputs, then outputs
  int64_t row_bytes[kMostWidened];  // of divided tensors; 0: not divided
  uint8_t narrow[kMostWidened];     // 0: not converted; 1: f16; 2: bf16

  [[nodiscard]] bool is_divided(int tensor) const { return row_bytes[tensor] > 0; }
  // Whether an output is summed up over the blocks.
  [[nodiscard]] bool is_sum(int tensor) const {
    return rows > 1 && tensor >= inputs && !is_divided(tensor);
  }
  [[nodiscard]] int64_t blocks() const { return (rows + block_rows - 1) / block_rows; }
  // Elements of the copy of a tensor.
  [[nodiscard]] int64_t copied(int tensor) const {
    return is_divided(tensor) ? elements[tensor] / rows * block_rows : elements[tensor];
  }
};
inline constexpr size_t kWidenedParams = (sizeof(WidenedHeader) + 15) / 16 * 16;

enum class WidenedRows : uint8_t { all, block, last_block };
// Where the parameters of the f32 kernel stand, in bytes.
[[nodiscard]] inline size_t inner_params_at(const WidenedHeader& header, WidenedRows rows) {
  const size_t bytes = (static_cast<size_t>(header.params_bytes) + 15) / 16 * 16;
  return kWidenedParams + static_cast<size_t>(rows) * bytes;
}

// Makes the parameters of a widened call. Throws Error if an op has too many inputs and outputs.
[[nodiscard]] Params widened_params(const OpDef& op, const KernelContext& c);
// The parameters of the f32 kernel within them.
[[nodiscard]] Params narrow_params(const Params& params, WidenedRows rows = WidenedRows::all);
// Bytes of workspace: copies of widened tensors, of sums those of a block beside them, each a
// multiple of 64, and the workspace of the f32 kernel.
[[nodiscard]] int64_t widened_workspace(const OpDef& op, const Params& params, int threads,
                                        bool fast);
// Bytes of a copy of so many elements.
[[nodiscard]] inline int64_t widened_bytes(int64_t elements) {
  return (4 * elements + 63) / 64 * 64;
}

// The kernels, given by a higher layer; the fast ones convert in parallel.
[[nodiscard]] KernelFn widened_ref();
[[nodiscard]] KernelFn widened_fast();

}  // namespace thimble::ir
