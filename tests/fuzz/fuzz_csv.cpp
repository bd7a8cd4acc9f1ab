// The first byte chooses the options, the rest is the table: rows of equal length or an Error.
#include "data/csv.h"

#include <thimble/error.h>

#include <cmath>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  if (size == 0) return 0;
  CsvOptions options;
  options.header = (data[0] & 1) != 0;
  options.delimiter = ",;\t "[data[0] >> 1 & 3];
  if ((data[0] & 8) != 0) options.label = 0;
  if ((data[0] & 16) != 0) options.label = "y";
  if ((data[0] & 32) != 0) options.label = std::monostate{};
  options.label_is_class = (data[0] & 64) == 0;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    const CsvTable table = parse_csv("fuzz", text, options);
    const auto rows = static_cast<size_t>(table.rows);
    if (table.features.size() != rows * static_cast<size_t>(table.columns)) std::abort();
    if (!table.classes.empty() && table.classes.size() != rows) std::abort();
    if (!table.targets.empty() && table.targets.size() != rows) std::abort();
    for (const float value : table.features) {
      if (!std::isfinite(value)) std::abort();
    }
  } catch (const thimble::Error&) {
  }
  return 0;
}
