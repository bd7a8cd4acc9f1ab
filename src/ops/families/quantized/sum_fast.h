// The sum of two quantized tensors of one shape, vector by vector, with the bits of the reference.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/families/quantized/sum_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// Whether quantized_sum_fast computes it: nothing is broadcast, and factors in fixed point are at
// most 1.
[[nodiscard]] bool quantized_sum_is_plain(const quantized_sum_dims& d);

// y = a + sign * b; sign: 1 or -1. a, b, y: [n], y may be a or b. Does not throw or allocate.
void quantized_sum_fast(int8_t* y, const int8_t* a, const int8_t* b, int32_t sign,
                        const quantized_sum_dims& d, parallel::ThreadPool& pool);

}  // namespace thimble::ops
