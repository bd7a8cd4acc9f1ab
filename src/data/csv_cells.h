// The cells of a text table, line by line.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::data {

// Cells may stand in double quotes, but not contain line breaks; blanks around them and empty lines
// are skipped. Errors name line and column, from 1. Text and cells are views of what was given.
class CsvCells {
 public:
  CsvCells(const std::string& file, std::string_view text, char delimiter);

  // Goes to the next line that is not empty and splits it; false at the end.
  bool next();
  [[nodiscard]] const std::vector<std::string_view>& cells() const { return cells_; }
  // Throws Error where the line has not so many cells as the first one.
  void expect_width(size_t width) const;
  // The cell as a finite number, one that fits f32, and as a whole one. Throw Error.
  [[nodiscard]] double real(size_t column) const;
  [[nodiscard]] float number(size_t column) const;
  [[nodiscard]] int64_t integer(size_t column) const;

  // The whole cell as a number; knows no locale and no leading space.
  template <class T>
  [[nodiscard]] static bool parse(std::string_view cell, T& value) {
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc() && end == cell.data() + cell.size();
  }

  [[noreturn]] void fail(size_t column, const std::string& what) const;

 private:
  [[nodiscard]] std::string_view trimmed(std::string_view cell) const;
  void split();

  const std::string& file_;
  std::string_view rest_;
  char delimiter_;
  std::string_view blank_;  // what may surround a cell
  std::string_view text_;   // of the current line
  int64_t line_ = 0;
  std::vector<std::string_view> cells_;
};

}  // namespace thimble::data
