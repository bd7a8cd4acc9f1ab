#include <thimble/ops/average_pool2d.h>
#include <thimble/ops/average_pool3d.h>

#include "ir/graph.h"
#include "ops/families/builder/named_op.h"
#include "ops/families/conv/volume.h"

// Built from average_pool2d: there is no op of its own.
THIMBLE_OP_FOLDER(average_pool3d) { return {}; }

namespace thimble {

Value average_pool3d(Value x, const AveragePool3dOptions& options) {
  constexpr const char* kName = "average_pool3d";
  ops::check_volume(kName, x);
  const ops::Triple kernel = ops::triple(kName, "kernel", options.kernel, 1);
  const ops::Triple stride =
      options.stride.empty() ? kernel : ops::triple(kName, "stride", options.stride, 1);
  const ops::VolumePadding padding = ops::volume_padding(kName, options.padding);
  const int64_t depth = x.shape()[1];
  return ops::named_op(kName, [&] {
    const Value planes =
        average_pool2d(ops::planes_of(x), {.kernel = kernel.plane(),
                                           .stride = stride.plane(),
                                           .padding = padding.plane,
                                           .count_include_pad = options.count_include_pad,
                                           .ceil_mode = options.ceil_mode,
                                           .divisor = options.divisor});
    // The count of a window is the count of its plane times the count along the depth, so means of
    // means are correct.
    const Value pooled = average_pool2d(ops::lines_of(planes, depth),
                                        {.kernel = {kernel.d, 1},
                                         .stride = {stride.d, 1},
                                         .padding = {padding.front, padding.back, 0, 0},
                                         .count_include_pad = options.count_include_pad,
                                         .ceil_mode = options.ceil_mode,
                                         .divisor = options.divisor == 0 ? 0 : 1});
    return ops::volume_of_columns(pooled, planes.shape());
  });
}

}  // namespace thimble
