#include "text_printer.h"

#include <unistd.h>

#include <cstdint>
#include <utility>

namespace thimble::cli {
namespace {

constexpr std::string_view kUnknown = "\xef\xbf\xbd";

// Number of bytes of the character at the start of text; 0 if the text may end within it, -1 if it
// is invalid. By the Unicode Standard, table 3-7.
int character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const int count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return -1;
  for (int i = 1; i < count; ++i) {
    if (static_cast<size_t>(i) == text.size()) return 0;
    const uint8_t next = byte(static_cast<size_t>(i));
    uint8_t low = 0x80;
    uint8_t high = 0xbf;
    if (i == 1 && first == 0xe0) low = 0xa0;   // shorter forms exist
    if (i == 1 && first == 0xed) high = 0x9f;  // surrogates
    if (i == 1 && first == 0xf0) low = 0x90;
    if (i == 1 && first == 0xf4) high = 0x8f;  // past the last character
    if (next < low || next > high) return -1;
  }
  return count;
}

// U+0000 to U+001F and U+007F to U+009F.
bool is_control(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (character.size() == 1) return first < 0x20 ? first != '\n' && first != '\t' : first == 0x7f;
  return first == 0xc2 && static_cast<uint8_t>(character[1]) < 0xa0;
}

// Removes the complete characters from the start of text and returns them.
std::string taken(std::string& text) {
  std::string shown;
  size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = std::string_view(text).substr(at);
    const int bytes = character_bytes(rest);
    if (bytes == 0) break;
    const auto length = static_cast<size_t>(bytes < 0 ? 1 : bytes);
    const std::string_view character = rest.substr(0, length);
    shown += bytes < 0 || is_control(character) ? kUnknown : character;
    at += length;
  }
  text.erase(0, at);
  return shown;
}

}  // namespace

TextPrinter::TextPrinter(std::FILE* stream)
    : stream_(stream), raw_(::isatty(::fileno(stream)) != 1) {}

void TextPrinter::add(std::string_view piece) {
  rest_ += piece;
  const std::string shown = raw_ ? std::exchange(rest_, {}) : taken(rest_);
  std::fwrite(shown.data(), 1, shown.size(), stream_);
  std::fflush(stream_);
}

void TextPrinter::end() {
  const bool cut = !rest_.empty();
  rest_.clear();
  add(cut ? std::string(kUnknown) + "\n" : "\n");
}

std::string printable(std::string_view text) {
  std::string rest(text);
  std::string shown = taken(rest);
  if (!rest.empty()) shown += kUnknown;
  return shown;
}

}  // namespace thimble::cli
