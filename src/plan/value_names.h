// How the planner names values that it adds to a graph.
#pragma once

#include <string_view>

namespace thimble::plan {

// Stands behind the name of a value that is made a second time.
inline constexpr std::string_view kAgain = " (again)";
[[nodiscard]] inline bool is_made_again(std::string_view name) {
  return name.size() > kAgain.size() && name.substr(name.size() - kAgain.size()) == kAgain;
}

}  // namespace thimble::plan
