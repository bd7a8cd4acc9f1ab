#include "data/csv.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "data/array.h"
#include "data/file.h"

namespace thimble::data {
namespace {

class Parser {
 public:
  Parser(const std::string& file, std::string_view text, const CsvOptions& options)
      : file_(file), rest_(text), options_(options), blank_(options.delimiter == ' ' ? "" : " ") {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // byte order mark
  }

  CsvTable parse() {
    if (options_.header) {
      if (!next_line()) throw Error(file_, "is empty");
      split_cells();
      find_label();
    }
    while (next_line()) {
      split_cells();
      if (width_ == 0) find_label();
      if (cells_.size() != width_) {
        fail(std::min(cells_.size(), width_),
             fmt::format("the line has {} columns, the first one {}", cells_.size(), width_));
      }
      for (size_t c = 0; c < cells_.size(); ++c) read_cell(c);
      ++table_.rows;
    }
    if (table_.rows == 0) throw Error(file_, "holds no samples");
    table_.columns = static_cast<int64_t>(width_) - (label_ ? 1 : 0);
    return std::move(table_);
  }

 private:
  // The next line that is not empty.
  bool next_line() {
    while (!rest_.empty()) {
      const size_t end = rest_.find('\n');
      text_ = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++line_;
      if (text_.ends_with('\r')) text_.remove_suffix(1);
      if (!text_.empty()) return true;
    }
    return false;
  }

  std::string_view trimmed(std::string_view cell) const {
    const size_t first = cell.find_first_not_of(blank_);
    if (first == std::string_view::npos) return {};
    return cell.substr(first, cell.find_last_not_of(blank_) - first + 1);
  }

  void split_cells() {
    cells_.clear();
    size_t begin = 0;
    for (bool more = true; more;) {
      const size_t start = text_.find_first_not_of(blank_, begin);
      size_t from = begin;
      if (start != std::string_view::npos && text_[start] == '"') {
        from = text_.find('"', start + 1);
        if (from == std::string_view::npos) fail(cells_.size(), "a quoted cell does not end");
      }
      const size_t end = text_.find(options_.delimiter, from);
      more = end != std::string_view::npos;
      std::string_view cell = trimmed(text_.substr(begin, more ? end - begin : end));
      if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
        cell = trimmed(cell.substr(1, cell.size() - 2));
      }
      cells_.push_back(cell);
      begin = end + 1;
    }
  }

  // Finds the label among the columns of the first line.
  void find_label() {
    width_ = cells_.size();
    if (const int* number = std::get_if<int>(&options_.label)) {
      const int64_t column = *number < 0 ? *number + static_cast<int64_t>(width_) : *number;
      if (column < 0 || column >= static_cast<int64_t>(width_)) {
        throw Error(file_,
                    fmt::format("label column {} does not exist; there are {}", *number, width_));
      }
      label_ = static_cast<size_t>(column);
    } else if (const auto* name = std::get_if<std::string>(&options_.label)) {
      for (size_t c = 0; options_.header && c < width_ && !label_; ++c) {
        if (cells_[c] == *name) label_ = c;
      }
      if (!label_) {
        throw Error(file_, fmt::format("has no column \"{}\"{}", *name,
                                       options_.header ? "" : ": it is read without a header"));
      }
    }
    if (label_ && width_ == 1) throw Error(file_, "has no column beside the label");
  }

  void read_cell(size_t c) {
    if (c != label_) {
      table_.features.push_back(number(c));
    } else if (options_.label_is_class) {
      table_.classes.push_back(class_index(c));
    } else {
      table_.targets.push_back(number(c));
    }
  }

  // The whole cell as a number; from_chars knows no locale and no leading space.
  template <class T>
  bool parse_number(std::string_view cell, T& value) const {
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc() && end == cell.data() + cell.size();
  }

  float number(size_t c) const {
    // By way of double: as f32 a value below 1e-45 would count as out of range, not as zero.
    double value = 0;
    if (!parse_number(cells_[c], value) ||
        !(std::abs(value) <= std::numeric_limits<float>::max())) {
      fail(c, fmt::format("{} is not a finite number", shown(cells_[c])));
    }
    return static_cast<float>(value);
  }

  int32_t class_index(size_t c) const {
    int32_t value = 0;
    if (!parse_number(cells_[c], value) || value < 0) {
      fail(c, fmt::format("{} is not a class index 0 .. 2^31-1", shown(cells_[c])));
    }
    return value;
  }

  [[noreturn]] void fail(size_t column, const std::string& what) const {
    throw Error(file_, fmt::format("line {}, column {}: {}", line_, column + 1, what));
  }

  const std::string& file_;
  std::string_view rest_;
  const CsvOptions& options_;
  std::string_view blank_;  // what may surround a cell
  std::string_view text_;   // of the current line
  int64_t line_ = 0;
  std::vector<std::string_view> cells_;
  size_t width_ = 0;  // columns, label included
  std::optional<size_t> label_;
  CsvTable table_;
};

}  // namespace

CsvTable parse_csv(const std::string& file, std::string_view text, const CsvOptions& options) {
  return Parser(file, text, options).parse();
}

Dataset csv(const std::string& path, const CsvOptions& options) {
  if (!(std::isfinite(options.divisor) && options.divisor != 0)) {
    throw Error(path, fmt::format("CsvOptions::divisor is {}; it must be finite and not 0",
                                  options.divisor));
  }
  const auto bytes = read_file(path);
  CsvTable table =
      parse_csv(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, options);
  const Shape shape =
      options.feature_shape.rank() > 0 ? options.feature_shape : Shape{table.columns};
  if (checked_elements(path, shape.dims(), INT64_MAX) != table.columns) {
    throw Error(path, fmt::format("has {} feature columns, which CsvOptions::feature_shape {} does "
                                  "not fit",
                                  table.columns, to_string(shape)));
  }
  std::vector<int64_t> dims = shape.dims();
  dims.insert(dims.begin(), table.rows);
  std::vector<Column> columns;
  columns.push_back({{"features", shape, DType::f32},
                     make_array(std::move(table.features), Shape(std::move(dims))),
                     options.divisor});
  if (!table.classes.empty()) {
    columns.push_back(
        {{"label", {}, DType::i32, true}, make_array(std::move(table.classes), {table.rows})});
  } else if (!table.targets.empty()) {
    columns.push_back(
        {{"label", {}, DType::f32, true}, make_array(std::move(table.targets), {table.rows})});
  }
  return array_dataset(std::move(columns));
}

}  // namespace thimble::data
