#include "plan/text_parts.h"

#include <fmt/format.h>
#include <thimble/plan.h>

#include <array>
#include <cmath>

namespace thimble {
namespace plan {

std::string grouped(int64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') out += ',';
    out += digits[i];
  }
  return out;
}

std::string short_bytes(int64_t bytes) {
  constexpr double kKiB = 1024.0;
  const double value = static_cast<double>(bytes), size = std::abs(value);
  if (size < kKiB) return fmt::format("{} B", bytes);
  if (size < kKiB * kKiB) return fmt::format("{:.2f} KiB", value / kKiB);
  if (size < kKiB * kKiB * kKiB) return fmt::format("{:.2f} MiB", value / kKiB / kKiB);
  return fmt::format("{:.2f} GiB", value / kKiB / kKiB / kKiB);
}

std::string plural(int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", grouped(number), what, number == 1 ? "" : "s");
}

std::string short_time(double milliseconds) {
  if (milliseconds >= 1000.0) return fmt::format("{:.2f} s", 1e-3 * milliseconds);
  if (milliseconds > 0.0 && milliseconds < 0.005) return "< 0.01 ms";
  return fmt::format("{:.2f} ms", milliseconds);
}

std::string short_flops(double flops) {
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (std::abs(flops) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    flops /= 1000.0;
    ++prefix;
  }
  return fmt::format("{:.3g} {}flop", flops, kPrefixes[prefix]);
}

std::string wrapped(std::string_view text, size_t indent) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    if (word.empty()) continue;
    if (column > 0 && column + 1 + word.size() > kTextColumns) {
      out += '\n';
      column = 0;
    }
    const std::string before(column == 0 ? indent : 1, ' ');
    out += before;
    out += word;
    column += before.size() + word.size();
  }
  return out.empty() ? out : out + '\n';
}

}  // namespace plan

std::string format_bytes(int64_t bytes) {
  std::string text = plan::short_bytes(bytes);
  if (bytes < 1024) return text;
  return fmt::format("{} ({} B)", text, plan::grouped(bytes));
}

}  // namespace thimble
