// Text of a model on a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace thimble::cli {

// Prints text that arrives in pieces. Thread safety: none.
class TextPrinter {
 public:
  // To a terminal UTF-8 alone: what is none, and control characters that could drive the terminal,
  // appear as U+FFFD; line ends and tabs stay. To anything else every byte as it is.
  explicit TextPrinter(std::FILE* stream);
  // Prints what is complete and flushes.
  void add(std::string_view piece);
  // Prints what was left over and a line end.
  void end();

 private:
  std::FILE* stream_;
  bool raw_;
  std::string rest_;  // the begin of a character
};

// The text as a terminal shows it.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace thimble::cli
