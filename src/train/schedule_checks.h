// Checks of the settings of schedules. Each throws Error(schedule, ...) naming the setting.
#pragma once

#include <fmt/format.h>
#include <thimble/error.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace thimble::train {

inline void require(bool fine, const char* schedule, const std::string& message) {
  if (!fine) throw Error("schedule", fmt::format("{}: {}", schedule, message));
}

inline void require_rate(const char* schedule, const char* field, double rate) {
  require(rate > 0.0 && std::isfinite(rate), schedule,
          fmt::format("{} must be above 0, got {}", field, rate));
}

inline void require_count(const char* schedule, const char* field, int64_t count) {
  require(count >= 1, schedule, fmt::format("{} must be at least 1, got {}", field, count));
}

inline void require_gamma(const char* schedule, double gamma) {
  require(gamma > 0.0 && gamma <= 1.0, schedule,
          fmt::format("gamma must be above 0 and at most 1, got {}", gamma));
}

inline void require_momenta(const char* schedule, double base, double max) {
  require(base >= 0.0 && base <= max && max < 1.0, schedule,
          fmt::format("base_momentum and max_momentum must be from 0 to below 1 in this order, got "
                      "{} and {}",
                      base, max));
}

// The checks common to schedules from max to min.
template <class S>
inline void require_fall(const char* schedule, const S& s) {
  require_rate(schedule, "max", s.max);
  require(s.min >= 0.0, schedule, fmt::format("min must not be negative, got {}", s.min));
  require(s.min <= s.max, schedule,
          fmt::format("min must not be above max, got {} and {}", s.min, s.max));
}

}  // namespace thimble::train
