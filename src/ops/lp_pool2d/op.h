#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct LpPool2dOptions {
  double p = 2.0;          // exponent of the norm; not 0
  Pair kernel = 2;         // size of the window
  Pair stride = Pair(0);   // 0: the size of the kernel
  bool ceil_mode = false;  // keep a last window that reaches beyond the image
};

// Power-average pooling: y[n, p, q, c] = (sum over the window of x^p)^(1/p). x: [N, H, W, C],
// f32; y: [N, P, Q, C]. NaN where that sum is negative and p is not a whole number. Equal to
// torch.nn.functional.lp_pool2d. Throws Error where sizes do not fit or p is 0.
Value lp_pool2d(Value x, const LpPool2dOptions& options = {});

}  // namespace thimble
