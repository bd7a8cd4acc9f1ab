#include "ops/families/move/strided.h"

#include "ops/families/move/copy.h"

namespace thimble::ops {

std::vector<int64_t> row_major_strides(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  return strides;
}

strided_dims strided_dims_of(const std::vector<StridedAxis>& axes, int64_t offset, int64_t other,
                             DType dtype) {
  strided_dims d{};
  d.n = 1;
  d.other = static_cast<int>(other);
  d.offset = static_cast<int>(offset);
  d.element = copy_element_of(dtype);
  for (const StridedAxis& axis : axes) {
    if (axis.size == 0) d.n = 0;
  }
  for (size_t i = axes.size(); d.n > 0 && i-- > 0;) {
    const int size = static_cast<int>(axes[i].size);
    const int stride = static_cast<int>(axes[i].stride);
    if (size == 1) continue;
    d.n *= size;
    const int last = d.count - 1;
    if (last >= 0 && stride == d.stride[last] * d.size[last]) {
      d.size[last] *= size;
      continue;
    }
    d.size[d.count] = size;
    d.stride[d.count] = stride;
    ++d.count;
  }
  if (d.count == 0) {
    d.size[0] = 1;
    d.stride[0] = 1;
    d.count = 1;
  }
  return d;
}

}  // namespace thimble::ops
