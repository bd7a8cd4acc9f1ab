// Text of a model on a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace thimble::cli {

// Prints text that arrives in pieces. Thread safety: none.
class TextPrinter {
 public:
  // A terminal gets only UTF-8: invalid bytes and control characters that could drive the terminal
  // appear as U+FFFD; line ends and tabs stay. Other streams get every byte as it is.
  explicit TextPrinter(std::FILE* stream);
  // Prints all complete characters and flushes.
  void add(std::string_view piece);
  // Prints the rest and a line end.
  void end();

 private:
  std::FILE* stream_;
  bool raw_;
  std::string rest_;  // an incomplete character
};

// The text as a terminal shows it.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace thimble::cli
