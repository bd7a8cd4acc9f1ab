#include "data/open/csv_columns.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace thimble::data {
namespace {

// Which columns feed which fields.
class ColumnMatching {
 public:
  ColumnMatching(const std::string& file, const std::vector<std::string>& names, size_t width,
                 std::span<const Field> wanted)
      : file_(file),
        names_(names),
        wanted_(wanted),
        taken_(width),
        chosen_(wanted.size()),
        is_open_(wanted.size(), true) {}

  FieldColumns match() {
    for (size_t f = 0; f < wanted_.size(); ++f) match_name(f);
    match_label();
    match_rest();
    for (size_t f = 0; f < wanted_.size(); ++f) {
      if (is_open_[f]) fail(f);
    }
    return std::move(chosen_);
  }

 private:
  void take(size_t field, std::vector<size_t> columns) {
    for (const size_t column : columns) taken_[column] = true;
    chosen_[field] = std::move(columns);
    is_open_[field] = false;
  }

  [[nodiscard]] int64_t column_of(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? -1 : found - names_.begin();
  }

  void match_name(size_t f) {
    const Field& field = wanted_[f];
    const int64_t count = field.shape.elements();
    if (count == 1 && column_of(field.name) >= 0) {
      return take(f, {static_cast<size_t>(column_of(field.name))});
    }
    if (count > static_cast<int64_t>(names_.size())) return;
    for (const int64_t first : {0, 1}) {
      for (const char* const form : {"{}_{}", "{}{}", "{}[{}]"}) {
        std::vector<size_t> columns;
        for (int64_t i = first; i < first + count; ++i) {
          const int64_t column = column_of(fmt::format(fmt::runtime(form), field.name, i));
          if (column < 0) break;
          columns.push_back(static_cast<size_t>(column));
        }
        if (static_cast<int64_t>(columns.size()) == count) return take(f, std::move(columns));
      }
    }
  }

  // The fields of a kind that have no columns yet.
  [[nodiscard]] std::vector<size_t> open_fields(bool is_label) const {
    std::vector<size_t> fields;
    for (size_t f = 0; f < wanted_.size(); ++f) {
      if (is_open_[f] && wanted_[f].is_label == is_label) fields.push_back(f);
    }
    return fields;
  }

  void match_label() {
    const std::vector<size_t> open = open_fields(true);
    if (open.size() != 1 || wanted_[open[0]].shape.elements() != 1) return;
    std::vector<size_t> columns;
    for (size_t c = 0; c < names_.size(); ++c) {
      if (!taken_[c] && is_usual_name(names_[c], true)) columns.push_back(c);
    }
    if (columns.empty() && !taken_.back()) columns.push_back(taken_.size() - 1);
    if (columns.size() == 1) take(open[0], std::move(columns));
  }

  void match_rest() {
    const std::vector<size_t> open = open_fields(false);
    if (open.size() != 1) return;
    std::vector<size_t> columns;
    for (size_t c = 0; c < taken_.size(); ++c) {
      if (!taken_[c]) columns.push_back(c);
    }
    const int64_t count = wanted_[open[0]].shape.elements();
    if (static_cast<int64_t>(columns.size()) == count) take(open[0], std::move(columns));
  }

  [[noreturn]] void fail(size_t f) const {
    const Field& field = wanted_[f];
    const auto left = std::count(taken_.begin(), taken_.end(), false);
    const int64_t count = field.shape.elements();
    throw Error(file_,
                fmt::format("has no columns for the {} \"{}\"{}: it takes {}, and {} of {} columns "
                            "are left; name the columns {} in the first line",
                            field.is_label ? "label" : "input", field.name, to_string(field.shape),
                            count, left, taken_.size(),
                            count == 1 ? field.name
                                       : fmt::format("{0}_0 to {0}_{1}", field.name, count - 1)));
  }

  const std::string& file_;
  const std::vector<std::string>& names_;
  std::span<const Field> wanted_;
  std::vector<bool> taken_;
  FieldColumns chosen_;
  std::vector<bool> is_open_;
};

}  // namespace

FieldColumns match_columns(const std::string& file, const std::vector<std::string>& names,
                           size_t width, std::span<const Field> wanted) {
  return ColumnMatching(file, names, width, wanted).match();
}

}  // namespace thimble::data
