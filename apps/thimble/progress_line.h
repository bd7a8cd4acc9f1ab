// The layout of the progress bar.
#pragma once

#include <cstdint>
#include <string>

namespace thimble::cli {

// "BEFORE ████░░░░ AFTER" of at most `columns` columns, the bar at most 30 of them; empty if the
// texts leave no room, because a wrapped line cannot be redrawn. before, after: ASCII.
[[nodiscard]] std::string progress_line(int columns, int64_t done, int64_t total,
                                        const std::string& before, const std::string& after);

}  // namespace thimble::cli
