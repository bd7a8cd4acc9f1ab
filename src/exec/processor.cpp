#include "exec/processor.h"

#include <hwy/targets.h>
#include <thimble/error.h>

#include "simd/targets.h"

namespace thimble::exec {

void check_processor() {
  if ((simd::compiled_targets() & hwy::SupportedTargets()) != 0) return;
  throw Error("processor",
              "this program was built for another processor's vector instructions; build it here "
              "with ./run build, or for every processor with -DTHIMBLE_VECTOR_TARGET=all");
}

}  // namespace thimble::exec
