#include "data/open/csv_fields.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "data/csv_cells.h"
#include "data/file.h"
#include "data/open/csv_columns.h"

namespace thimble::data {
namespace {

bool is_number(std::string_view cell) {
  double value = 0;
  return CsvCells::parse(cell, value);
}

// Names of columns are no numbers, or the columns' own numbers, as pandas writes them: a line of
// numbers and a class in words is a sample.
bool are_column_names(const std::vector<std::string>& cells) {
  bool has_word = false;
  for (size_t c = 0; c < cells.size(); ++c) {
    if (is_number(cells[c]) && cells[c] != std::to_string(c)) return false;
    has_word = has_word || !is_number(cells[c]);
  }
  return has_word;
}

// Of the first line, without cells in quotes. A quote within a cell is an ordinary character.
char delimiter_of(std::string_view text) {
  std::string line;
  bool is_quoted = false;
  bool begins_cell = true;
  for (const char c : text) {
    if (c == '"' && (is_quoted || begins_cell)) {
      is_quoted = !is_quoted;
      begins_cell = is_quoted;  // two quotes in a quoted cell stand for one
      continue;
    }
    if (is_quoted) continue;
    if (c == '\n') break;
    begins_cell = c == '\t' || c == ',' || c == ';' || (begins_cell && c == ' ');
    line += c;
  }
  if (line.find('\t') != std::string::npos) return '\t';
  return line.find(',') == std::string::npos && line.find(';') != std::string::npos ? ';' : ',';
}

// The values of one field, row after row.
class FieldValues {
 public:
  FieldValues(const Field& field, std::vector<size_t> columns)
      : field_(field), columns_(std::move(columns)) {}

  // The kind of a label follows from its first cell.
  void begin(const CsvCells& row) {
    is_of_words_ = field_.is_label && !thimble::is_floating(field_.dtype) && columns_.size() == 1 &&
                   !is_number(row.cells()[columns_[0]]);
  }

  void read(const CsvCells& row) {
    for (const size_t column : columns_) {
      if (is_of_words_) {
        if (row.cells()[column].empty()) row.fail(column, "the class is missing");
        append(word_number(row.cells()[column]));
      } else if (field_.dtype == DType::f64) {
        append(row.real(column));
      } else if (thimble::is_floating(field_.dtype)) {
        append(row.number(column));
      } else {
        append(row.integer(column));
      }
    }
    ++rows_;
  }

  // Classes are numbered by their sorted names. `names`: those of the training part, if known.
  Column finish(const std::string& file, std::vector<std::string>& names) {
    std::vector<int64_t> dims = field_.shape.dims();
    dims.insert(dims.begin(), rows_);
    const StoragePtr values = values_.finish();
    if (!is_of_words_) {
      const Element element = stored_as();
      return column_for(file, field_, {element, Shape(std::move(dims)), values});
    }
    if (names.empty()) {
      for (const auto& [word, number] : words_) names.push_back(word);
    }
    std::vector<int32_t> class_of(words_.size());  // by the number a word was given
    for (const auto& [word, number] : words_) {
      const auto found = std::lower_bound(names.begin(), names.end(), word);
      if (found == names.end() || *found != word) {
        throw Error(file, fmt::format("names the class {}, which the training part does not have",
                                      shown(word)));
      }
      class_of[static_cast<size_t>(number)] = static_cast<int32_t>(found - names.begin());
    }
    std::vector<int32_t> classes(static_cast<size_t>(rows_));
    for (size_t row = 0; row < classes.size(); ++row) {
      int64_t number = 0;
      values->read(static_cast<int64_t>(row * sizeof(number)),
                   std::as_writable_bytes(std::span(&number, 1)));
      classes[row] = class_of[static_cast<size_t>(number)];
    }
    return column_for(file, field_, make_array(std::move(classes), Shape(std::move(dims))));
  }

 private:
  template <class T>
  void append(T value) {
    values_.append(std::as_bytes(std::span(&value, 1)));
  }

  [[nodiscard]] Element stored_as() const {
    if (field_.dtype == DType::f64) return Element::f64;
    return thimble::is_floating(field_.dtype) ? Element::f32 : Element::i64;
  }

  int64_t word_number(std::string_view word) {
    return words_.try_emplace(std::string(word), static_cast<int64_t>(words_.size())).first->second;
  }

  const Field& field_;
  std::vector<size_t> columns_;
  bool is_of_words_ = false;
  int64_t rows_ = 0;
  Spill values_;                          // f32, f64 or i64
  std::map<std::string, int64_t> words_;  // in the order of their first rows
};

}  // namespace

std::vector<Column> parse_csv_fields(const std::string& file, std::string_view text,
                                     std::span<const Field> wanted,
                                     std::vector<std::string>& class_names) {
  CsvCells rows(file, text, delimiter_of(text));
  if (!rows.next()) throw Error(file, "is empty");
  const size_t width = rows.cells().size();
  std::vector<std::string> names(rows.cells().begin(), rows.cells().end());
  const bool has_header = are_column_names(names);
  if (!has_header) names.clear();
  const FieldColumns columns = match_columns(file, names, width, wanted);
  std::deque<FieldValues> values;
  for (size_t f = 0; f < wanted.size(); ++f) values.emplace_back(wanted[f], columns[f]);
  int64_t count = 0;
  for (bool more = !has_header || rows.next(); more; more = rows.next(), ++count) {
    rows.expect_width(width);
    for (FieldValues& field : values) {
      if (count == 0) field.begin(rows);
      field.read(rows);
    }
  }
  if (count == 0) throw Error(file, "holds no samples");
  std::vector<Column> found;
  for (FieldValues& field : values) found.push_back(field.finish(file, class_names));
  return found;
}

namespace {

std::vector<Column> read_csv_fields(const std::string& path, const OpenRequest& request,
                                    std::vector<std::string>& class_names) {
  const std::vector<std::byte> bytes = read_file(path);
  return parse_csv_fields(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                          request.wanted, class_names);
}

}  // namespace

Dataset open_csv(const std::string& path, const OpenRequest& request) {
  std::vector<std::string> class_names = request.class_names;
  return array_dataset(read_csv_fields(path, request, class_names));
}

std::vector<std::string> csv_class_names(const std::string& path, const OpenRequest& request) {
  std::vector<std::string> class_names;
  static_cast<void>(read_csv_fields(path, request, class_names));
  return class_names;
}

}  // namespace thimble::data
