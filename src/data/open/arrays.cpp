// Data sets of .npy files that are named one by one.
#include <thimble/data_open.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include "data/named_arrays.h"
#include "data/npy.h"
#include "ir/graph.h"

namespace thimble::data {

std::vector<Field> fields_of(const Graph& graph, bool with_labels) {
  std::vector<Field> fields;
  for (const ir::ValueData& value : graph.ir().values) {
    const bool is_label = value.role == ir::Role::label;
    if (value.role != ir::Role::input && !(is_label && with_labels)) continue;
    const std::vector<int64_t>& dims = value.type.shape.dims();
    fields.push_back({std::string(value.name), Shape(std::vector(dims.begin() + 1, dims.end())),
                      value.type.dtype, is_label});
  }
  return fields;
}

Dataset open_arrays(const std::vector<std::pair<Field, std::string>>& files) {
  std::vector<Column> columns;
  for (const auto& [field, path] : files) {
    columns.push_back(column_for(path, field, parse_npy(path, in_file(path))));
    const int64_t rows = columns.back().array.rows();
    if (rows != columns.front().array.rows()) {
      throw Error(path, fmt::format("holds {} samples, but {} holds {}; give files that belong "
                                    "together",
                                    rows, files.front().second, columns.front().array.rows()));
    }
  }
  return array_dataset(std::move(columns));
}

}  // namespace thimble::data
