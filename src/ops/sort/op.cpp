#include <fmt/format.h>
#include <thimble/ops/sort.h>
#include <thimble/ops/topk.h>

#include "ir/graph.h"
#include "ops/families/builder/named_op.h"

// Sorts all elements: topk with k equal to the size of the axis.
THIMBLE_OP_FOLDER(sort) { return {}; }

namespace thimble {

Sorted sort(Value x, const SortOptions& options) {
  const int rank = x.shape().rank();
  if (options.axis < -rank || options.axis >= rank) {
    throw Error("sort",
                fmt::format("there is no axis {} in {}", options.axis, to_string(x.shape())));
  }
  const int64_t size = x.shape()[static_cast<int>(options.axis)];
  if (size == kBatch) {
    throw Error("sort", "the samples of an open batch cannot be sorted; name another axis");
  }
  const Topk best = ops::named_op("sort", [&] {
    return topk(x, {.k = size, .axis = options.axis, .largest = options.descending});
  });
  return {best.values, best.indices};
}

Value argsort(Value x, const SortOptions& options) { return sort(x, options).indices; }

}  // namespace thimble
