// Broadcasting as in NumPy.
#pragma once

#include <optional>

#include "ir/op_def.h"
#include "ops/families/binary/broadcast_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// Whether a tensor of shape small broadcasts to shape large.
bool broadcasts_to(const Shape& small, const Shape& large);

// The broadcast shape of both; none if they do not broadcast.
std::optional<Shape> common_shape(const Shape& a, const Shape& b);

// The size of an axis counted from the last (-1); axes beyond the first are of size 1.
int64_t size_from_last(const Shape& shape, int axis);

// How kernels repeat small to fill large; the shapes must broadcast and have at most 8 dimensions.
broadcast_dims broadcast_dims_of(const Shape& small, const Shape& large, int divisor);

// As BROADCAST_REF.
void broadcast_simd(float* y, const float* x, const broadcast_dims* d, parallel::ThreadPool& pool);

}  // namespace thimble::ops
