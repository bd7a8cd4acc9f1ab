// Whether a plan may use a swap file.
#pragma once

#include <cstdint>

namespace thimble {

// Whether values may lie in a file between their uses.
enum class Swap : uint8_t {
  never,
  automatic,  // where that costs less time than the other ways to keep the budget
  always,     // in place of recomputation
};

}  // namespace thimble
