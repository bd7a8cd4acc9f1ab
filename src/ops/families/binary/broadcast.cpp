#include "ops/families/binary/broadcast.h"

#include <algorithm>

namespace thimble::ops {

bool broadcasts_to(const Shape& small, const Shape& large) {
  if (small.rank() > large.rank()) return false;
  for (int axis = -1; axis >= -small.rank(); --axis) {
    if (small[axis] != large[axis] && small[axis] != 1) return false;
  }
  return true;
}

std::optional<Shape> common_shape(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int axis = -1; axis >= -rank; --axis) {
    const int64_t of_a = size_from_last(a, axis);
    const int64_t of_b = size_from_last(b, axis);
    if (of_a != of_b && of_a != 1 && of_b != 1) return std::nullopt;
    dims[static_cast<size_t>(axis + rank)] = of_a == 1 ? of_b : of_a;
  }
  return Shape(std::move(dims));
}

int64_t size_from_last(const Shape& shape, int axis) {
  return axis < -shape.rank() ? 1 : shape[axis];
}

broadcast_dims broadcast_dims_of(const Shape& small, const Shape& large, int divisor) {
  broadcast_dims d{};
  d.n = static_cast<int>(large.elements());
  d.divisor = divisor;
  int stride = 1;
  for (int axis = -1; axis >= -large.rank(); --axis) {
    const int size = static_cast<int>(large[axis]);
    if (size == 1) continue;
    const bool repeated = axis < -small.rank() || small[axis] == 1;
    const int step = repeated ? 0 : stride;
    if (!repeated) stride *= size;
    // An axis is merged with the previous one where both are contiguous.
    if (d.count > 0) {
      const int before = d.count - 1;
      const int continued = d.stride[before] * d.size[before];
      if (step == continued && (step != 0) == (d.stride[before] != 0)) {
        d.size[before] *= size;
        continue;
      }
    }
    d.size[d.count] = size;
    d.stride[d.count] = step;
    ++d.count;
  }
  if (d.count == 0) d.size[d.count++] = 1;
  return d;
}

}  // namespace thimble::ops
