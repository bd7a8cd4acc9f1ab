#include <thimble/ops/max_pool1d.h>
#include <thimble/ops/max_pool2d.h>

#include "ops/families/conv/sequence.h"

// Built from max_pool2d: there is no op of its own.
THIMBLE_OP_FOLDER(max_pool1d) { return {}; }

namespace thimble::ops::max_pool1d_impl {
namespace {

MaxPool2dAttrs as_rows(const MaxPool1dOptions& options) {
  return {.kernel = {1, options.kernel},
          .stride = {1, options.stride == 0 ? options.kernel : options.stride},
          .padding = ops::end_padding(options.padding),
          .dilation = {1, options.dilation},
          .ceil_mode = options.ceil_mode};
}

}  // namespace
}  // namespace thimble::ops::max_pool1d_impl

namespace thimble {

Value max_pool1d(Value x, const MaxPool1dOptions& options) {
  ops::check_sequence("max_pool1d", x);
  return ops::as_sequence(max_pool2d(ops::as_image(x), ops::max_pool1d_impl::as_rows(options)));
}

MaxPool1dResult max_pool1d_with_indices(Value x, const MaxPool1dOptions& options) {
  ops::check_sequence("max_pool1d_with_indices", x);
  const auto pooled =
      max_pool2d_with_indices(ops::as_image(x), ops::max_pool1d_impl::as_rows(options));
  return {ops::as_sequence(pooled.y), ops::as_sequence(pooled.index)};
}

}  // namespace thimble
