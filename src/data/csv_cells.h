// The cells of a text table, line by line.
#pragma once

#include <charconv>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::data {

// A cell may stand in double quotes and then contain delimiters, line breaks and quotes, each
// written twice (RFC 4180). Blanks around cells and empty lines are skipped. Errors name the line
// that a row begins in, and the column, from 1. Cells are views, valid until the next call of next.
class CsvCells {
 public:
  CsvCells(const std::string& file, std::string_view text, char delimiter);

  // Goes to the next row, whose line is not empty, and splits it; false at the end.
  bool next();
  [[nodiscard]] const std::vector<std::string_view>& cells() const { return cells_; }
  // Throws Error where the line has not so many cells as the first one.
  void expect_width(size_t width) const;
  // The cell as a finite number, one that fits f32, and as a whole one. Throw Error.
  [[nodiscard]] double real(size_t column) const;
  [[nodiscard]] float number(size_t column) const;
  [[nodiscard]] int64_t integer(size_t column) const;

  // The whole cell, without blanks around it, as a number; knows no locale.
  template <class T>
  [[nodiscard]] static bool parse(std::string_view cell, T& value) {
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc() && end == cell.data() + cell.size();
  }

  [[noreturn]] void fail(size_t column, const std::string& what) const;

 private:
  std::string_view take_line();
  void split();
  // Add a cell that begins here, and return where the next one does; npos: there is none.
  size_t take_plain(size_t begin);
  size_t take_quoted(size_t quote);
  // Adds a line to the text, in which a quoted cell goes on; false at the end.
  bool add_line();

  const std::string& file_;
  std::string_view rest_;
  char delimiter_;
  std::string_view blank_;  // what may surround a cell
  std::string_view text_;   // of the current row
  int64_t line_ = 0;        // that it begins in
  int64_t lines_ = 0;       // taken so far
  std::vector<std::string_view> cells_;
  std::deque<std::string> unquoted_;  // cells of the row that are no views of the text
};

}  // namespace thimble::data
