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

bool CsvCells::next() {
  while (!rest_.empty()) {
    const size_t end = rest_.find('\n');
    text_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_;
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    if (text_.empty()) continue;
    split();
    return true;
  }
  return false;
}

std::string_view CsvCells::trimmed(std::string_view cell) const {
  const size_t first = cell.find_first_not_of(blank_);
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(blank_) - first + 1);
}

void CsvCells::split() {
  cells_.clear();
  size_t begin = 0;
  for (bool more = true; more;) {
    const size_t start = text_.find_first_not_of(blank_, begin);
    size_t from = begin;
    if (start != std::string_view::npos && text_[start] == '"') {
      from = text_.find('"', start + 1);
      if (from == std::string_view::npos) fail(cells_.size(), "a quoted cell does not end");
    }
    const size_t end = text_.find(delimiter_, from);
    more = end != std::string_view::npos;
    std::string_view cell = trimmed(text_.substr(begin, more ? end - begin : end));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
      cell = trimmed(cell.substr(1, cell.size() - 2));
    }
    cells_.push_back(cell);
    begin = end + 1;
  }
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
