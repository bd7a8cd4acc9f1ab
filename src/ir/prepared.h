// Ops whose fast kernels bring weights into another form first. Programs that run many times
// between two changes of the weights keep that form.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/op_def.h"

namespace thimble::ir {

struct PreparedInputs {
  const OpDef* op;
  std::vector<int> inputs;  // that the form is made of
  // Bytes of the form on this machine; 0: this call has none.
  int64_t (*bytes)(const Params&);
  // Its output is the form; its inputs are those of the op, of which it reads `inputs` alone.
  KernelFn prepare;
  // The op's fast kernel, with the form in the place of the first of `inputs`, and its workspace.
  KernelFn kernel;
  int64_t (*workspace)(const Params&, int threads);
};

using PreparedOps = std::span<const PreparedInputs>;

}  // namespace thimble::ir
