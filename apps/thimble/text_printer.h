// Text of a model on a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace thimble::cli {

// Prints UTF-8 that arrives in pieces. What is no UTF-8, and control characters that could drive
// the terminal, appear as U+FFFD; line ends and tabs stay. Thread safety: none.
class TextPrinter {
 public:
  explicit TextPrinter(std::FILE* stream) : stream_(stream) {}
  // Prints what is complete and flushes.
  void add(std::string_view piece);
  // Prints what was left over and a line end.
  void end();

 private:
  std::FILE* stream_;
  std::string rest_;  // the begin of a character
};

// The text as TextPrinter shows it.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace thimble::cli
