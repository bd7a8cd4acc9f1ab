#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct NormOptions {
  std::vector<int64_t> axes;  // none: all; negative ones count from the last
  bool keepdims = false;      // keep them with size 1
  double p = 2.0;  // exponent; 0 counts what is not 0, infinity takes the largest, -infinity the
                   // smallest magnitude
};
void describe(NormOptions& options, ir::FieldVisitor& visitor);

// The norm over axes: (sum of |x|^p)^(1/p). x: at most 8 dimensions, f32. The gradient is 0 where
// the norm or x is 0. Equal to torch.linalg.vector_norm. Throws Error for axes that do not exist
// and for p that is NaN.
Value norm(Value x, const NormOptions& options = {});

}  // namespace thimble
