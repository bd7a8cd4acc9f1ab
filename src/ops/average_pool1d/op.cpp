#include <thimble/ops/average_pool1d.h>
#include <thimble/ops/average_pool2d.h>

#include "ops/families/conv/sequence.h"

// Built from average_pool2d: there is no op of its own.
THIMBLE_OP_FOLDER(average_pool1d) { return {}; }

namespace thimble {

Value average_pool1d(Value x, const AveragePool1dOptions& options) {
  ops::check_sequence("average_pool1d", x);
  const int64_t stride = options.stride == 0 ? options.kernel : options.stride;
  return ops::as_sequence(
      average_pool2d(ops::as_image(x), {.kernel = {1, options.kernel},
                                        .stride = {1, stride},
                                        .padding = ops::end_padding(options.padding),
                                        .count_include_pad = options.count_include_pad,
                                        .ceil_mode = options.ceil_mode}));
}

}  // namespace thimble
