// Formats numbers and lines for the text of a plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace thimble::plan {

inline constexpr size_t kTextColumns = 100;

// 1234567 -> "1,234,567"
[[nodiscard]] std::string grouped(int64_t number);

// "1.13 MiB", "952.77 KiB", "512 B"
[[nodiscard]] std::string short_bytes(int64_t bytes);

// "1 buffer", "12 buffers", "1,234 buffers"
[[nodiscard]] std::string plural(int64_t number, std::string_view what);

// "0.52 ms", "12.30 ms", "1.20 s"
[[nodiscard]] std::string short_time(double milliseconds);

// "1.2 Gflop"
[[nodiscard]] std::string short_flops(double flops);

// The words of a text as lines of at most kTextColumns columns, each after `indent` spaces.
[[nodiscard]] std::string wrapped(std::string_view text, size_t indent);

}  // namespace thimble::plan
