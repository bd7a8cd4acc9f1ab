#include "simd/targets.h"

#include <hwy/highway.h>

namespace thimble::simd {

int64_t compiled_targets() { return HWY_TARGETS; }

bool has_kernels_for_this_processor() {
  return (compiled_targets() & hwy::SupportedTargets()) != 0;
}

}  // namespace thimble::simd
