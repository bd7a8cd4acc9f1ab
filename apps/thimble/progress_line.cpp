#include "progress_line.h"

#include <algorithm>

namespace thimble::cli {

std::string progress_line(int columns, int64_t done, int64_t total, const std::string& before,
                          const std::string& after) {
  constexpr int kWidest = 30;
  constexpr int kAround = 6;  // spaces, and room for the cursor
  const int room = columns - static_cast<int>(before.size() + after.size()) - kAround;
  if (room < 0) return {};
  const double part = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0.0;
  const int width = std::min(room, kWidest);
  const int filled = static_cast<int>(part * width + 0.5);
  std::string line = before + " ";
  for (int i = 0; i < width; ++i) line += i < filled ? "█" : "░";
  return line + " " + after;
}

}  // namespace thimble::cli
