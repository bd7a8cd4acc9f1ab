// The layout of the progress bar.
#pragma once

#include <cstdint>
#include <string>

namespace thimble::cli {

// "BEFORE ████░░░░ AFTER" of at most `columns` columns, the bar at most 30 of them; empty where the
// texts leave it no room: a line that is broken could not be drawn over. before, after: ASCII.
[[nodiscard]] std::string progress_line(int columns, int64_t done, int64_t total,
                                        const std::string& before, const std::string& after);

}  // namespace thimble::cli
