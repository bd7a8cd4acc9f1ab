// Tables of text whose columns feed fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/open/request.h"

namespace thimble::data {

// The fields' arrays, in the order of request.wanted. `text` is the whole file. A first line
// without a number, or whose numbers are those of their columns, names the columns. A field takes
// the columns of its name: NAME for one number, NAME_0, NAME0 or NAME[0] and so on (from 0 or 1)
// for more. Of the others the only label takes the column of a usual name (label, y, target, class
// ...), else the last one, and the only input all that is left. class_names: of a label of words,
// sorted; empty: those of the table. Throws Error naming line and column.
[[nodiscard]] std::vector<Column> parse_csv_fields(const std::string& file, std::string_view text,
                                                   std::span<const Field> wanted,
                                                   std::vector<std::string>& class_names);

}  // namespace thimble::data
