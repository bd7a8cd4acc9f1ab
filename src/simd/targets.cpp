#include "simd/targets.h"

#include <hwy/highway.h>

namespace thimble::simd {

int64_t compiled_targets() { return HWY_TARGETS; }

}  // namespace thimble::simd
