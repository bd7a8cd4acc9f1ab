// Names of the cores that instructions are predicted for.
#pragma once

#include <thimble/instruction_model.h>

#include <utility>

namespace thimble::cli {

inline constexpr std::pair<const char*, Core> kCores[] = {
    {"m4", Core::cortex_m4}, {"m7", Core::cortex_m7}, {"m55", Core::cortex_m55}};

[[nodiscard]] inline const char* name_of(Core core) {
  return kCores[static_cast<size_t>(core)].first;
}

}  // namespace thimble::cli
