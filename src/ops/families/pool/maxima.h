// Gradients that are zero except at the maxima of a pooling's windows.
#pragma once

#include <thimble/graph.h>

#include <optional>

namespace thimble::ops {

// Of a max pooling alone which has a gradient: that of its result, its result, and how the gradient
// of its result becomes that of its input.
struct Maxima {
  Value dy;
  Value y;
  Value pool_grad;  // max_pool2d_grad
};

// Where dy, the gradient by x, comes from a max pooling of x and from nothing else.
[[nodiscard]] std::optional<Maxima> maxima_of(Value dy, Value x);

// The same max_pool2d_grad for another gradient of the pooling's result.
[[nodiscard]] Value route_to_maxima(const Maxima& maxima, Value dy);

// select(dy, y) for an op that passes each element of dy on as it is, or 0, depending on the same
// element of y. What a pooling sends to its maxima is chosen before it is sent: the windows are
// fewer than the cells, their maxima are the same numbers, and y need not be kept. The bits are the
// same: all the gradients of one cell are passed on or none.
template <class Select>
[[nodiscard]] Value select_gradient(Value dy, Value y, const Select& select) {
  const std::optional<Maxima> maxima = maxima_of(dy, y);
  if (!maxima) return select(dy, y);
  return route_to_maxima(*maxima, select(maxima->dy, maxima->y));
}

}  // namespace thimble::ops
