#include <thimble/error.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/average_pool2d.h>
#include <thimble/ops/lp_pool2d.h>
#include <thimble/ops/pow.h>

#include "ir/graph.h"

THIMBLE_OP_FOLDER(lp_pool2d) { return {}; }

namespace thimble {

Value lp_pool2d(Value x, const LpPool2dOptions& options) {
  if (options.p == 0.0) throw Error("lp_pool2d", "expected a p other than 0");
  const Value mean = average_pool2d(
      pow(x, options.p),
      {.kernel = options.kernel, .stride = options.stride, .ceil_mode = options.ceil_mode});
  const auto cells = static_cast<double>(options.kernel.h * options.kernel.w);
  return pow(mean * cells, 1.0 / options.p);
}

}  // namespace thimble
