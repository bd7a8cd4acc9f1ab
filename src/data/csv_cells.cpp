#include "data/csv_cells.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/file.h"

namespace thimble::data {

CsvCells::CsvCells(const std::string& file, std::string_view text, char delimiter)
    : file_(file), rest_(text), delimiter_(delimiter), blank_(delimiter == ' ' ? "" : " ") {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
}

std::string_view CsvCells::take_line() {
  const size_t end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  ++lines_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool CsvCells::next() {
  while (!rest_.empty()) {
    text_ = take_line();
    line_ = lines_;
    if (text_.empty()) continue;
    split();
    return true;
  }
  return false;
}

void CsvCells::split() {
  cells_.clear();
  unquoted_.clear();
  for (size_t at = 0; at != std::string_view::npos;) {
    const size_t start = text_.find_first_not_of(blank_, at);
    const bool is_quoted = start != std::string_view::npos && text_[start] == '"';
    at = is_quoted ? take_quoted(start) : take_plain(at);
  }
}

size_t CsvCells::take_plain(size_t begin) {
  const size_t end = text_.find(delimiter_, begin);
  const bool is_last = end == std::string_view::npos;
  const std::string_view cell = text_.substr(begin, is_last ? end : end - begin);
  const size_t first = cell.find_first_not_of(blank_);
  cells_.push_back(first == std::string_view::npos
                       ? std::string_view()
                       : cell.substr(first, cell.find_last_not_of(blank_) - first + 1));
  return is_last ? end : end + 1;
}

size_t CsvCells::take_quoted(size_t quote) {
  size_t end = quote;
  bool has_quotes = false;  // two of them stand for one
  for (;;) {
    end = text_.find('"', end + 1);
    if (end == std::string_view::npos) {
      end = text_.size();
      if (!add_line()) fail(cells_.size(), "a quoted cell does not end");
    } else if (end + 1 < text_.size() && text_[end + 1] == '"') {
      has_quotes = true;
      ++end;
    } else {
      break;
    }
  }
  std::string_view cell = text_.substr(quote + 1, end - quote - 1);
  if (has_quotes) {
    std::string& made = unquoted_.emplace_back(cell);
    for (size_t at = 0; (at = made.find("\"\"", at)) != std::string::npos; ++at) made.erase(at, 1);
    cell = made;
  }
  cells_.push_back(cell);
  const size_t next = text_.find_first_not_of(blank_, end + 1);
  if (next == std::string_view::npos) return next;
  if (text_[next] != delimiter_) {
    fail(cells_.size() - 1,
         "something stands behind the closing quote; within quotes a quote is written twice");
  }
  return next + 1;
}

bool CsvCells::add_line() {
  if (rest_.empty()) return false;
  const char* const begin = text_.data();
  const std::string_view line = take_line();
  text_ = {begin, static_cast<size_t>(line.data() + line.size() - begin)};
  return true;
}

void CsvCells::expect_width(size_t width) const {
  if (cells_.size() == width) return;
  fail(std::min(cells_.size(), width),
       fmt::format("the line has {} columns, the first one {}", cells_.size(), width));
}

double CsvCells::real(size_t column) const {
  double value = 0;
  if (!parse(cells_[column], value) || !std::isfinite(value)) {
    fail(column, fmt::format("{} is not a finite number", shown(cells_[column])));
  }
  return value;
}

float CsvCells::number(size_t column) const {
  // By way of double: as f32 a value below 1e-45 would count as out of range, not as zero.
  const double value = real(column);
  if (std::abs(value) > std::numeric_limits<float>::max()) {
    fail(column, fmt::format("{} is not a finite number of f32", shown(cells_[column])));
  }
  return static_cast<float>(value);
}

int64_t CsvCells::integer(size_t column) const {
  int64_t value = 0;
  if (!parse(cells_[column], value)) {
    fail(column, fmt::format("{} is not a whole number", shown(cells_[column])));
  }
  return value;
}

void CsvCells::fail(size_t column, const std::string& what) const {
  throw Error(file_, fmt::format("line {}, column {}: {}", line_, column + 1, what));
}

}  // namespace thimble::data
