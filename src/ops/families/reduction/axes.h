// Axes given as attributes: negative ones count from the last.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/op_def.h"
#include "ops/families/reduction/axis_dims.h"
#include "ops/families/reduction/reduce_dims.h"

namespace thimble::ops {

// Most axes of a tensor in kernels that keep a size and a stride for each.
inline constexpr int kMaxRank = 8;

// The axis as a number in [0, rank). Throws Error if there is no such axis.
int checked_axis(const ir::InferContext& c, int64_t axis, int rank);

// The value of DataFlow::samples for an op that works along an axis of input 0: `mixed` if that is
// the batch's axis.
ir::Samples samples_along(const ir::SamplesContext& c, int64_t axis);

// Marks the axes of input 0 that an attribute names; an empty list means all. Throws Error for an
// axis that does not exist or is named twice, and for more than kMaxRank axes.
std::vector<char> checked_axes(const ir::InferContext& c, const std::vector<int64_t>& axes);

// The same for axes that were checked before.
std::vector<char> chosen_axes(int rank, const std::vector<int64_t>& axes);

// The shape without the chosen axes, or with size 1 in their place.
Shape reduced_shape(const Shape& shape, const std::vector<char>& chosen, bool keepdims);

// Sizes with which the kernels reduce a tensor of that shape. divisor: see reduce_dims.
reduce_dims reduce_dims_of(const Shape& shape, const std::vector<char>& chosen, int divisor);

// The shape as [outer, axis, inner]; the axis must exist. outer is 0 for an empty tensor.
axis_dims axis_dims_of(const Shape& shape, int64_t axis);

}  // namespace thimble::ops
