// Quantized ops with weights that are packed once for many calls.
#pragma once

#include "ir/prepared.h"

namespace thimble::ops {

[[nodiscard]] ir::PreparedInputs quantized_conv2d_prepared();
[[nodiscard]] ir::PreparedInputs quantized_dense_prepared();

// All of them.
[[nodiscard]] inline ir::PreparedOps prepared_ops() {
  static const ir::PreparedInputs all[] = {quantized_conv2d_prepared(), quantized_dense_prepared()};
  return all;
}

}  // namespace thimble::ops
