// Gradients that an op passes through or replaces by 0, applied before they are routed to chosen
// elements.
#pragma once

#include <thimble/graph.h>

#include <optional>

namespace thimble::ops {

// A gradient that is routed to the elements that an op chose (ir::Routing) and is 0 elsewhere: the
// gradient of the chosen values, and the chosen values.
struct RoutedGradient {
  Value dy;
  Value y;
  Value routed;  // the gradient by the op's input
};

// The routed gradient, if dy, the gradient by x, comes only from an op that chose elements of x
// (ir::Choice).
[[nodiscard]] std::optional<RoutedGradient> routed_gradient(Value dy, Value x);

// Routes another gradient of the chosen values to the same elements.
[[nodiscard]] Value route(const RoutedGradient& gradient, Value dy);

// select(dy, y) for an op that passes each element of dy through or replaces it by 0, depending on
// the same element of y. If dy is routed to chosen elements, the gradient of the chosen values is
// selected before it is routed: there are fewer chosen values, they are equal to the elements of y,
// and y need not be kept. The bits are the same, because all gradients of one element are passed
// through or none.
template <class Select>
[[nodiscard]] Value select_gradient(Value dy, Value y, const Select& select) {
  const std::optional<RoutedGradient> routed = routed_gradient(dy, y);
  if (!routed) return select(dy, y);
  return route(*routed, select(routed->dy, routed->y));
}

}  // namespace thimble::ops
