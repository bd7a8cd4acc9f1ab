// Runs a tiled update: the kernels of the gradient and of the optimizer's rule, tile by tile.
#pragma once

#include <cstddef>

#include "ir/kernel.h"
#include "ir/op_def.h"
#include "parallel/thread_pool.h"
#include "plan/tiled_loop.h"

namespace thimble::exec {

// A tiled update bound to memory. Thread safety: one run at a time.
struct TiledCall {
  const plan::TiledLoop* loop = nullptr;
  const ir::OpDef* gradient = nullptr;
  const ir::OpDef* update = nullptr;
  ir::KernelFn gradient_kernel = nullptr;
  ir::KernelFn update_kernel = nullptr;
  // Of the update for the whole parameter; its input of the gradient is null. The workspace has
  // plan::workspace_bytes, the pool is that of the session.
  ir::KernelCall call{};
  // The inputs of the gradient, padded with nulls to the number that its op declares.
  const void* const* gradient_inputs = nullptr;
  int gradient_input_count = 0;

  // Allocates what running needs: running allocates nothing after prepare.
  static void prepare();
  void run() const;
};

}  // namespace thimble::exec
