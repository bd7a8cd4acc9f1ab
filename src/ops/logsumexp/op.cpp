#include <thimble/ops/add.h>
#include <thimble/ops/clip.h>
#include <thimble/ops/exp.h>
#include <thimble/ops/log.h>
#include <thimble/ops/logsumexp.h>
#include <thimble/ops/max.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/stop_gradient.h>
#include <thimble/ops/sub.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "ir/graph.h"
#include "ops/families/builder/named_op.h"

THIMBLE_OP_FOLDER(logsumexp) { return {}; }

namespace thimble::ops::logsumexp_impl {
namespace {

// Whether one of the axes, of all where none is named, has no elements.
bool is_of_nothing(const Shape& x, const std::vector<int64_t>& axes) {
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool is_named = std::any_of(axes.begin(), axes.end(), [&](int64_t named) {
      return named == axis || named + x.rank() == axis;
    });
    if (x[axis] == 0 && (axes.empty() || is_named)) return true;
  }
  return false;
}

}  // namespace
}  // namespace thimble::ops::logsumexp_impl

namespace thimble {

Value logsumexp(Value x, const ReduceOptions& options) {
  // Finite, so that infinity is never subtracted from infinity.
  constexpr double kMost = std::numeric_limits<float>::max();
  return ops::named_op("logsumexp", [&] {
    if (ops::logsumexp_impl::is_of_nothing(x.shape(), options.axes))
      return log(sum(exp(x), options));
    const Value largest = max(stop_gradient(x), {.axes = options.axes, .keepdims = true});
    const Value level = clip(largest, {.low = -kMost, .high = kMost});
    const Value rest = sum(exp(x - level), options);
    return log(rest) + (options.keepdims ? level : reshape(level, rest.shape()));
  });
}

}  // namespace thimble
