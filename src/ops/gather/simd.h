// The fast part of gather's kernel.
#pragma once

#include <cstdint>

#include "ops/families/indexed/indexed_dims.h"

namespace thimble::ops::gather_impl {

// One run of the innermost axis, elements of 4 bytes whatever they mean: `missing` are the bits of
// what has no place. x: where the run's elements of index 0 begin.
void gather_words(int32_t* y, const int32_t* x, const int32_t* index, int32_t missing,
                  const indexed_dims& d);

}  // namespace thimble::ops::gather_impl
