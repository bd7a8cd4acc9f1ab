// Which columns of a table feed which fields.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/named_arrays.h"

namespace thimble::data {

// Of each field, its columns from 0, in the order of its elements.
using FieldColumns = std::vector<std::vector<size_t>>;

// By the rules of parse_csv_fields. names: of the columns, none where the table has no header;
// width: how many columns there are. Throws Error naming the field that has none.
[[nodiscard]] FieldColumns match_columns(const std::string& file,
                                         const std::vector<std::string>& names, size_t width,
                                         std::span<const Field> wanted);

}  // namespace thimble::data
