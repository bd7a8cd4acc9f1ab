#include "ir/names.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace thimble::ir {
namespace {

constexpr size_t kLongest = size_t{1} << 16;
constexpr std::string_view kReserved = "__metadata__";

// Bytes of the UTF-8 character that text begins with; 0: it begins with none (RFC 3629).
size_t character_bytes(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t bytes = first < 0xc2   ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf5 ? 4
                                      : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  const uint8_t second = byte(1);
  const bool is_overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return is_overlong || is_no_character ? 0 : bytes;
}

// With what no terminal shows as it is replaced.
std::string shown(std::string_view name) {
  constexpr size_t kMostShown = 60;
  std::string text(name.substr(0, kMostShown));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text + (name.size() > kMostShown ? "..." : "");
}

}  // namespace

std::string name_error(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kLongest) return fmt::format("is longer than {} bytes", kLongest);
  if (name == kReserved) return "is reserved by safetensors files";
  for (size_t at = 0; at < name.size();) {
    const auto byte = static_cast<uint8_t>(name[at]);
    if (byte < 0x20 || byte == 0x7f) return fmt::format("has a control character at byte {}", at);
    const size_t bytes = character_bytes(name.substr(at));
    if (bytes == 0) return fmt::format("is no UTF-8 from byte {} on", at);
    at += bytes;
  }
  return "";
}

void check_name(const char* what, std::string_view name) {
  const std::string wrong = name_error(name);
  if (wrong.empty()) return;
  throw Error(what, fmt::format("the name \"{}\" {}, so that no file could hold it; take another",
                                shown(name), wrong));
}

}  // namespace thimble::ir
