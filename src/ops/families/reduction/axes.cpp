#include "ops/families/reduction/axes.h"

#include <fmt/format.h>

namespace thimble::ops {

int checked_axis(const ir::InferContext& c, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    c.fail(fmt::format("there is no axis {} among {} dimensions", axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

ir::Samples samples_along(const ir::SamplesContext& c, int64_t axis) {
  return axis == 0 || axis == -c.in(0).rank() ? ir::Samples::mixed : ir::Samples::independent;
}

std::vector<char> checked_axes(const ir::InferContext& c, const std::vector<int64_t>& axes) {
  const int rank = c.shape(0).rank();
  c.require(rank <= kMaxRank, fmt::format("expected at most {} dimensions", kMaxRank));
  std::vector<char> chosen(static_cast<size_t>(rank), axes.empty() ? 1 : 0);
  for (const int64_t axis : axes) {
    char& mark = chosen[static_cast<size_t>(checked_axis(c, axis, rank))];
    c.require(mark == 0, fmt::format("axis {} is named twice", axis));
    mark = 1;
  }
  return chosen;
}

std::vector<char> chosen_axes(int rank, const std::vector<int64_t>& axes) {
  std::vector<char> chosen(static_cast<size_t>(rank), axes.empty() ? 1 : 0);
  for (const int64_t axis : axes) chosen[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = 1;
  return chosen;
}

Shape reduced_shape(const Shape& shape, const std::vector<char>& chosen, bool keepdims) {
  std::vector<int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (chosen[static_cast<size_t>(axis)] == 0) {
      dims.push_back(shape[axis]);
    } else if (keepdims) {
      dims.push_back(1);
    }
  }
  return Shape(std::move(dims));
}

reduce_dims reduce_dims_of(const Shape& shape, const std::vector<char>& chosen, int divisor) {
  reduce_dims d{};
  d.outputs = 1;
  d.reduced = 1;
  d.divisor = divisor;
  if (shape.elements() == 0) {
    // There are no elements, and the other sizes may overflow when multiplied.
    d.reduced = 0;
    d.outputs = static_cast<int>(reduced_shape(shape, chosen, false).elements());
    return d;
  }
  int stride = 1;
  int previous = -1;  // whether the last merged axis was chosen
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const int size = static_cast<int>(shape[axis]);
    const bool reduced = chosen[static_cast<size_t>(axis)] != 0;
    (reduced ? d.reduced : d.outputs) *= size;
    if (size == 1) continue;
    reduce_axes& list = reduced ? d.over : d.kept;
    if (previous == static_cast<int>(reduced)) {
      list.size[list.count - 1] *= size;  // consecutive axes of one kind are merged
    } else {
      list.size[list.count] = size;
      list.stride[list.count] = stride;
      ++list.count;
    }
    previous = static_cast<int>(reduced);
    stride *= size;
  }
  return d;
}

axis_dims axis_dims_of(const Shape& shape, int64_t axis) {
  const int chosen = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  axis_dims d{1, static_cast<int>(shape[chosen]), 1};
  if (shape.elements() == 0) return {0, d.size, 1};
  for (int a = 0; a < chosen; ++a) d.outer *= static_cast<int>(shape[a]);
  for (int a = chosen + 1; a < shape.rank(); ++a) d.inner *= static_cast<int>(shape[a]);
  return d;
}

}  // namespace thimble::ops
