// Gradients that an op passes on or replaces by 0, before they are sent to chosen elements.
#pragma once

#include <thimble/graph.h>

#include <optional>

namespace thimble::ops {

// A gradient that goes to the elements that an op chose (ir::Routing) and nowhere else: that of the
// chosen values, and these values.
struct RoutedGradient {
  Value dy;
  Value y;
  Value routed;  // the gradient of what the op chose from
};

// The routed gradient if dy, the gradient by x, comes only from an op that chose elements of x
// (ir::Choice).
[[nodiscard]] std::optional<RoutedGradient> routed_gradient(Value dy, Value x);

// The same routing of another gradient of the chosen values.
[[nodiscard]] Value route(const RoutedGradient& gradient, Value dy);

// select(dy, y) for an op that passes each element of dy on as it is, or 0, depending on the same
// element of y. What goes to chosen elements is selected before it is sent: the chosen are fewer,
// their values are the same numbers, and y need not be kept. The bits are the same: all the
// gradients of one element are passed on or none.
template <class Select>
[[nodiscard]] Value select_gradient(Value dy, Value y, const Select& select) {
  const std::optional<RoutedGradient> routed = routed_gradient(dy, y);
  if (!routed) return select(dy, y);
  return route(*routed, select(routed->dy, routed->y));
}

}  // namespace thimble::ops
