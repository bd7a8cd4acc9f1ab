// Tables of numbers as text.
#pragma once

#include <thimble/data.h>

#include <string>
#include <string_view>
#include <vector>

namespace thimble::data {

struct CsvTable {
  std::vector<float> features;   // row after row, without the label
  std::vector<int32_t> classes;  // one per row if the label is a class
  std::vector<float> targets;    // one per row if it is a target
  int64_t rows = 0;
  int64_t columns = 0;  // features per row
};

// The table in a file given as its text. Cells may stand in double quotes, but not contain line
// breaks; empty lines are skipped. Throws Error naming line and column (from 1).
[[nodiscard]] CsvTable parse_csv(const std::string& file, std::string_view text,
                                 const CsvOptions& options);

}  // namespace thimble::data
