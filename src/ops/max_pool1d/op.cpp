#include <thimble/ops/max_pool1d.h>
#include <thimble/ops/max_pool2d.h>

#include "ops/common/sequence.h"

// Built from max_pool2d: there is no op of its own.
THIMBLE_OP_FOLDER(max_pool1d) { return {}; }

namespace thimble {

Value max_pool1d(Value x, const MaxPool1dOptions& options) {
  ops::check_sequence("max_pool1d", x);
  const int64_t stride = options.stride == 0 ? options.kernel : options.stride;
  return ops::as_sequence(
      max_pool2d(ops::as_image(x), {.kernel = {1, options.kernel},
                                    .stride = {1, stride},
                                    .padding = ops::end_padding(options.padding)}));
}

}  // namespace thimble
