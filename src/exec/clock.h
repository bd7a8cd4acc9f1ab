// The clock that times steps and transfers.
#pragma once

#include <chrono>

namespace thimble::exec {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace thimble::exec
