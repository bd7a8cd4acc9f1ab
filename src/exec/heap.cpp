#include "exec/heap.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace thimble::exec {

void trim_heap() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void hold_heap() {
#ifdef __GLIBC__
  // Without fixed thresholds malloc keeps blocks as large as the largest ever freed, and every
  // further arena reserves 64 MiB of addresses.
  constexpr int kThreshold = 128 << 10;
  static_cast<void>(::mallopt(M_ARENA_MAX, 1));
  static_cast<void>(::mallopt(M_MMAP_THRESHOLD, kThreshold));
  static_cast<void>(::mallopt(M_TRIM_THRESHOLD, kThreshold));
#endif
}

}  // namespace thimble::exec
