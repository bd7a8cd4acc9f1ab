// The inner loop of gather's fast kernel.
#pragma once

#include <cstdint>

#include "ops/families/indexed/indexed_dims.h"

namespace thimble::ops::gather_impl {

// Computes one run of the innermost axis for elements of 4 bytes of any type. missing: the bits
// written for an invalid index. x: where the run's elements of index 0 begin.
void gather_words(int32_t* y, const int32_t* x, const int32_t* index, int32_t missing,
                  const indexed_dims& d);

}  // namespace thimble::ops::gather_impl
