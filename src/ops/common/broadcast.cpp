#include "ops/common/broadcast.h"

namespace thimble::ops {

bool broadcasts_to(const Shape& small, const Shape& large) {
  if (small.rank() > large.rank()) return false;
  for (int axis = -1; axis >= -small.rank(); --axis) {
    if (small[axis] != large[axis] && small[axis] != 1) return false;
  }
  return true;
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
    // An axis that continues the one before it is merged with it.
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
