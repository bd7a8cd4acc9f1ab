#include "data/csv.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "data/array.h"
#include "data/csv_cells.h"
#include "data/file.h"

namespace thimble::data {
namespace {

class CsvTableParser {
 public:
  CsvTableParser(const std::string& file, std::string_view text, const CsvOptions& options)
      : file_(file), options_(options), rows_(file, text, options.delimiter) {}

  CsvTable parse() {
    if (options_.header) {
      if (!rows_.next()) throw Error(file_, "is empty");
      find_label();
    }
    while (rows_.next()) {
      if (width_ == 0) find_label();
      rows_.expect_width(width_);
      for (size_t c = 0; c < width_; ++c) read_cell(c);
      ++table_.rows;
    }
    if (table_.rows == 0) throw Error(file_, "holds no samples");
    table_.columns = static_cast<int64_t>(width_) - (label_ ? 1 : 0);
    return std::move(table_);
  }

 private:
  // Finds the label among the columns of the first line.
  void find_label() {
    width_ = rows_.cells().size();
    if (const int* number = std::get_if<int>(&options_.label)) {
      const int64_t column = *number < 0 ? *number + static_cast<int64_t>(width_) : *number;
      if (column < 0 || column >= static_cast<int64_t>(width_)) {
        throw Error(file_,
                    fmt::format("label column {} does not exist; there are {}", *number, width_));
      }
      label_ = static_cast<size_t>(column);
    } else if (const auto* name = std::get_if<std::string>(&options_.label)) {
      for (size_t c = 0; options_.header && c < width_ && !label_; ++c) {
        if (rows_.cells()[c] == *name) label_ = c;
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
      table_.features.push_back(rows_.number(c));
    } else if (options_.label_is_class) {
      table_.classes.push_back(class_index(c));
    } else {
      table_.targets.push_back(rows_.number(c));
    }
  }

  int32_t class_index(size_t c) const {
    int32_t value = 0;
    if (!CsvCells::parse(rows_.cells()[c], value) || value < 0) {
      rows_.fail(c, fmt::format("{} is not a class index 0 .. 2^31-1", shown(rows_.cells()[c])));
    }
    return value;
  }

  const std::string& file_;
  const CsvOptions& options_;
  CsvCells rows_;
  size_t width_ = 0;  // columns, label included
  std::optional<size_t> label_;
  CsvTable table_;
};

}  // namespace

CsvTable parse_csv(const std::string& file, std::string_view text, const CsvOptions& options) {
  return CsvTableParser(file, text, options).parse();
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
