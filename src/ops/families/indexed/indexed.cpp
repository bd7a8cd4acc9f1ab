#include "ops/families/indexed/indexed.h"

#include "ops/families/move/copy.h"
#include "ops/families/move/strided.h"
#include "ops/families/reduction/axes.h"

namespace thimble::ops {

void check_indexed(const ir::InferContext& c, const Shape& x, int index, int64_t axis) {
  const Shape& places = c.shape(index);
  c.require(x.rank() <= kMaxRank, "expected at most 8 dimensions");
  const int chosen = checked_axis(c, axis, x.rank());
  bool fits = places.rank() == x.rank();
  for (int a = 0; fits && a < x.rank(); ++a) fits = a == chosen || places[a] <= x[a];
  c.require(fits, "expected an index of as many dimensions, no larger but along the axis");
}

std::vector<ir::TypedKernels> with_index(std::vector<ir::TypedKernels> kernels) {
  for (ir::TypedKernels& each : kernels) {
    const DType dtype = each.inputs.back();
    each.inputs = {dtype, DType::i32, dtype};
  }
  return kernels;
}

indexed_dims indexed_dims_of(const Shape& x, const Shape& index, int64_t axis, DType dtype) {
  const auto chosen = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  const std::vector<int64_t> strides = row_major_strides(x);
  std::vector<StridedAxis> axes;
  for (size_t a = 0; a < strides.size(); ++a) {
    axes.push_back({index[static_cast<int>(a)], a == chosen ? 0 : strides[a]});
  }
  indexed_dims d{};
  d.walk = strided_dims_of(axes, 0, x.elements(), dtype);
  d.size = static_cast<int>(x[static_cast<int>(chosen)]);
  d.step = static_cast<int>(strides[chosen]);
  d.missing = missing_byte(dtype);
  return d;
}

}  // namespace thimble::ops
