#include "ops/families/move/parts.h"

#include <fmt/format.h>

#include "ops/families/move/copy.h"
#include "ops/families/reduction/axes.h"

namespace thimble::ops {

parts_dims parts_dims_of(const Shape& whole, int64_t axis, const std::vector<int64_t>& sizes,
                         DType dtype) {
  const axis_dims along = axis_dims_of(whole, axis);
  parts_dims d{};
  d.outer = along.outer;
  d.element = copy_element_of(dtype);
  for (const int64_t size : sizes) d.run[d.count++] = static_cast<int>(size) * along.inner;
  return d;
}

void require_parts(const ir::InferContext& c, size_t count) {
  c.require(
      count >= 1 && count <= PARTS_MAX,
      fmt::format("expected 1 to {} parts, got {}; go in several steps", int{PARTS_MAX}, count));
}

}  // namespace thimble::ops
