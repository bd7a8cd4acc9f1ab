// Ops that move values to the swap file and back. Only the planner adds them, after the order is
// fixed, so no graph in a file and no user's model holds one.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace thimble::plan {

// A slot is a place in the swap file: see exec::SwapFile.
struct SwapAttrs {
  int64_t slot = 0;
  int64_t deadline = 0;      // the transfer with the least deadline comes first
  DType dtype = DType::f32;  // of the output, where there is one
  Shape shape;
};
void describe(SwapAttrs& attrs, ir::FieldVisitor& visitor);

// swap_write(x): begins to write x. x must stay until swap_written.
[[nodiscard]] const ir::OpDef& swap_write_op();
// swap_written(x): waits until it is written.
[[nodiscard]] const ir::OpDef& swap_written_op();
// raw = swap_read(): begins to read into raw.
[[nodiscard]] const ir::OpDef& swap_read_op();
// y = swap_ready(raw): waits until it is read; y is raw by the type of the attributes.
[[nodiscard]] const ir::OpDef& swap_ready_op();

[[nodiscard]] inline bool is_transfer(const ir::OpDef& op) {
  return &op == &swap_write_op() || &op == &swap_written_op() || &op == &swap_read_op() ||
         &op == &swap_ready_op();
}

// Whether the op waits for the swap file. The file may have failed afterwards.
[[nodiscard]] inline bool waits_for_swap(const ir::OpDef& op) {
  return &op == &swap_written_op() || &op == &swap_ready_op();
}

}  // namespace thimble::plan
